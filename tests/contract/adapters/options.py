"""What several tests of options share."""

from __future__ import annotations

from typing import Protocol

from gateway.banks.port.charges import ChargeOrder, ChargeType
from gateway.banks.port.providers import (
    BlockCalls,
    CallbackCalls,
    ChargeCalls,
    IncomingCalls,
    KeyCalls,
    ProviderAdapter,
    RefundCalls,
)
from gateway.banks.port.refunds import RefundOrder
from gateway.core.money import Money
from tests.world.banks.sandbox import BankWorld, Paid

REFUND_KEY = "fedcba9876543210fedcba9876543210"


class Offering(
    ProviderAdapter,
    KeyCalls,
    ChargeCalls,
    IncomingCalls,
    RefundCalls,
    BlockCalls,
    CallbackCalls,
    Protocol,
):
    """An adapter of a bank that offers everything."""


def charge_order(**fields: object) -> ChargeOrder:
    plain = {
        "reference": "order/1042",
        "type": ChargeType.DYNAMIC,
        "key": "loja@example.com",
        "value": Money(1050),
    }
    return ChargeOrder(**{**plain, **fields})  # type: ignore[arg-type]


def refund_order(paid: Paid, centavos: int = 1050, key: str = REFUND_KEY) -> RefundOrder:
    return RefundOrder(
        provider_key=key,
        reference="refund/1",
        payment_e2e_id=paid.e2e_id,
        value=Money(centavos),
        description="devolução",
    )


async def refunded(bank_world: BankWorld, key: str = REFUND_KEY) -> list[int]:
    """Return the centavos of every refund really given under a key."""
    said = await bank_world.tell(f"/refunds?key={key}", method="GET")
    return [row["centavos"] for row in said["data"]]
