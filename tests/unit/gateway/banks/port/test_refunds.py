"""Refunds: what makes two the same, and the key a bank knows one by."""

from __future__ import annotations

import re

import pytest

from gateway.banks.port.refunds import RefundOrder, RefundRequest, refund_key
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.payouts.model import provider_key
from tests.unit.offering import E2E_ID, refund
from tests.world.people import ACCOUNT, SISTER

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION


def request(**fields: object) -> RefundRequest:
    plain = {"reference": "r-1", "payment": "order-1", "value": Money(1050)}
    return RefundRequest(**{**plain, **fields})  # type: ignore[arg-type]


def test_the_key_is_always_the_same_and_says_nothing():
    """Decisions 9, under a prefix of its own."""
    key = refund_key(SANDBOX, ACCOUNT, "r-1")

    assert key == refund_key(SANDBOX, ACCOUNT, "r-1")
    assert re.fullmatch(r"[0-9a-f]{32}", key)
    assert key == "b7dfb80ea52e376ea8e29d4fb5f22c5f"


def test_what_differs_has_another_key():
    keys = {
        refund_key(SANDBOX, ACCOUNT, "r-1"),
        refund_key(SANDBOX, ACCOUNT, "r-2"),
        refund_key(SANDBOX, SISTER, "r-1"),
        refund_key(PRODUCTION, ACCOUNT, "r-1"),
        provider_key(SANDBOX, ACCOUNT, "r-1"),
    }

    assert len(keys) == 5


@pytest.mark.parametrize("centavos", [0, -1])
def test_nothing_and_less_cannot_be_given_back(centavos: int):
    with pytest.raises(ValueError, match="above zero"):
        request(value=Money(centavos))
    with pytest.raises(ValueError, match="above zero"):
        RefundOrder(
            provider_key="k",
            reference="r",
            payment_e2e_id=E2E_ID,
            value=Money(centavos),
            description="",
        )


def test_a_payment_is_named_by_its_end_to_end_id_or_its_charge():
    cases = [
        (E2E_ID, True),
        ("order-1", False),
        ("D" + E2E_ID[1:], False),
        (E2E_ID + "\n", False),
        (E2E_ID[:-1], False),
        ("", False),
    ]

    wrong = [
        (payment, is_one)
        for payment, is_one in cases
        if request(payment=payment).names_payment is not is_one
    ]

    assert wrong == []


def test_a_repeat_must_ask_for_the_same():
    cases = [
        ({}, True),
        ({"payment": E2E_ID}, True),
        ({"value": Money(1051)}, False),
        ({"description": "x"}, False),
        ({"payment": "order-2"}, False),
    ]

    wrong = [
        (fields, same) for fields, same in cases if refund().is_of(request(**fields)) is not same
    ]

    assert wrong == []
