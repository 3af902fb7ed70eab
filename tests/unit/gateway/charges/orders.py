"""What several tests of orders share."""

from __future__ import annotations

from gateway.banks.port.charges import (
    Charge,
    ChargeOrder,
    ChargeStatus,
    ChargeType,
    Party,
)
from gateway.core.money import Money

ORDER = ChargeOrder(
    reference="maria-1", type=ChargeType.DYNAMIC, key="a@example.com", value=Money(1050)
)
CHARGE = Charge(
    reference="maria-1",
    type=ChargeType.DYNAMIC,
    key="a@example.com",
    value=Money(1050),
    status=ChargeStatus.ACTIVE,
    emv="000201",
    reusable=False,
    payer=None,
    receiver=Party(),
    city="",
    zip_code="",
    created_at=None,
    expires_at=None,
)
