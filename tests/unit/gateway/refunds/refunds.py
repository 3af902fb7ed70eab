"""What several tests of refunds share."""

from __future__ import annotations

from gateway.banks.port.charges import ChargePayment, ChargeStatus
from gateway.banks.port.providers import (
    Accepted,
    Evidence,
    NotSent,
    Phase,
    Unknown,
)
from gateway.core.money import Money
from tests.unit.offering import E2E_ID
from tests.world.charges import charge
from tests.world.payouts import ANSWERED
from tests.world.standing import NOON

SILENCE = Unknown(Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout"))
UNSENT = NotSent(Evidence(phase=Phase.CONNECTING, bytes_left=False, reason="connect_failed"))
TAKEN = Accepted(evidence=ANSWERED, provider_id="dev_1", e2e_id="D1")
CHARGE = charge(status=ChargeStatus.PAID)
PAYMENT = ChargePayment(
    reference="order-1",
    value=Money(1050),
    created_at=NOON,
    paid_at=NOON,
    e2e_id=E2E_ID,
    payer=None,
)
