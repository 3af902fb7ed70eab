"""What several tests of calls share."""

from __future__ import annotations

from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from provider_adapters.testing.verify.trial import new_provider_key
from tests.unit.provider_adapters.apipix.conftest import Standing


def far() -> Deadline:
    """A deadline that does not pass."""
    return Deadline(60.0, lambda: 0.0)


def order(
    efi: Standing, centavos: int = 1050, method: PayoutMethod = PayoutMethod.PIX
) -> PayoutOrder:
    return PayoutOrder(
        provider_key=new_provider_key(),
        method=method,
        value=Money(centavos),
        destination=efi.stage.payee(method),
        description="",
    )
