"""Payments received and refunds: the refunded share, and the provider key of a refund."""

from __future__ import annotations

import re

import pytest

from gateway.banks.port.refunds import IncomingPayment, IncomingStatus, RefundOrder, refund_key
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.payouts.model import provider_key
from tests.unit.offering import E2E_ID
from tests.world.people import ACCOUNT, SISTER
from tests.world.standing import NOON

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION


def test_the_key_is_deterministic_and_reveals_nothing():
    """Decisions 9, with its own prefix."""
    key = refund_key(SANDBOX, ACCOUNT, "r-1")

    assert key == refund_key(SANDBOX, ACCOUNT, "r-1")
    assert re.fullmatch(r"[0-9a-f]{32}", key)
    assert key == "b7dfb80ea52e376ea8e29d4fb5f22c5f"


def test_different_refunds_have_different_keys():
    keys = {
        refund_key(SANDBOX, ACCOUNT, "r-1"),
        refund_key(SANDBOX, ACCOUNT, "r-2"),
        refund_key(SANDBOX, SISTER, "r-1"),
        refund_key(PRODUCTION, ACCOUNT, "r-1"),
        provider_key(SANDBOX, ACCOUNT, "r-1"),
    }

    assert len(keys) == 5


@pytest.mark.parametrize("centavos", [0, -1])
def test_a_refund_must_be_above_zero(centavos: int):
    with pytest.raises(ValueError, match="above zero"):
        RefundOrder(
            provider_key="k",
            reference="r",
            payment_e2e_id=E2E_ID,
            value=Money(centavos),
            description="",
        )


def test_the_payment_status_follows_the_refunded_amount():
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
