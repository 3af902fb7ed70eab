"""A charge as a bank reports it."""

from __future__ import annotations

from dataclasses import replace

from gateway.banks.port.charges import Charge, ChargeStatus, ChargeType, Party
from gateway.core.money import Money

CHARGE = Charge(
    reference="order-1",
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


def charge(**changed: object) -> Charge:
    """Return an active charge of ten reais and fifty without a payer."""
    return replace(CHARGE, **changed)  # type: ignore[arg-type]
