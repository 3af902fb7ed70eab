"""What several tests of orders share."""

from __future__ import annotations

from gateway.banks.port.charges import ChargeOrder, ChargeType
from gateway.core.money import Money
from tests.world.charges import charge

ORDER = ChargeOrder(
    reference="maria-1", type=ChargeType.DYNAMIC, key="a@example.com", value=Money(1050)
)
CHARGE = charge(reference="maria-1")
