"""How much of a payment was given back, in a word."""

from __future__ import annotations

from gateway.banks.port.refunds import IncomingPayment, IncomingStatus
from gateway.core.money import Money
from tests.world.standing import NOON


def test_the_status_is_told_by_the_amounts():
    cases = [
        (0, IncomingStatus.PAID),
        (1, IncomingStatus.PARTLY_REFUNDED),
        (1049, IncomingStatus.PARTLY_REFUNDED),
        (1050, IncomingStatus.REFUNDED),
    ]

    for refunded, status in cases:
        payment = IncomingPayment(
            reference="",
            e2e_id="E1",
            provider_id="1",
            value=Money(1050),
            refunded=Money(refunded),
            paid_at=NOON,
            payer=None,
        )

        assert payment.status is status
