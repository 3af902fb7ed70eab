"""Refunds: read, and ordered by users."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.banks.port.charges import Payer
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import NotFound, Unavailable, Unreachable
from gateway.banks.port.refunds import IncomingPayment, RefundStatus
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.http.rendering import dumps
from gateway.refunds.routes import incoming
from gateway.refunds.routes import refund as show_refund
from tests.unit.gateway.http.surface import becomes, gate_of, line
from tests.unit.offering import E2E_ID, refund
from tests.world.standing import NOON

PAYMENT = IncomingPayment(
    reference="order-1",
    e2e_id=E2E_ID,
    provider_id="7",
    value=Money(1050),
    refunded=Money(50),
    paid_at=NOON,
    payer=Payer(name="Maria", tax_number="52998224725"),
)


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("pix_transactions", ("POST", "/pix/transactions/search", "transaction:read", 200)),
        ("pix_refunds", ("POST", "/pix/refunds/search", "refund:read", 200)),
        ("pix_refund", ("GET", "/pix/refunds/{reference}", "refund:read", 200)),
        (
            "pix_refund_create",
            ("POST", "/pix/transactions/{reference}/refunds", "refund:write", 200),
        ),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


def test_only_giving_back_asks_for_an_account_that_may_bank():
    names = ["pix_refunds", "pix_refund", "pix_refund_create"]

    assert ["AccountState" in gate_of(name) for name in names] == [False, False, True]


@pytest.mark.parametrize(
    ("name", "problem", "error"),
    [
        ("pix_transactions", Unavailable("a"), "transaction_unavailable"),
        ("pix_transactions", StoreUnavailable(), "store_unavailable"),
        ("pix_refunds", NotFound("a"), "transaction_unavailable"),
        ("pix_refund", NotFound("a"), "transaction_not_found"),
        ("pix_refund", Unavailable("a"), "transaction_unavailable"),
        ("pix_refund_create", Unreachable("a"), "refund_not_sent"),
        ("pix_refund_create", Unavailable("a"), "refund_unknown"),
    ],
)
def test_a_failure_has_the_rows_own_code(name: str, problem: Exception, error: str):
    assert becomes(name, problem) == error


def test_a_refund_names_the_payment_it_gives_back():
    shown = show_refund(refund())

    assert shown["transaction"] == {"reference": "order-1", "e2e_id": E2E_ID}
    assert (shown["status"], "failure" in shown) == ("paid", False)


@pytest.mark.parametrize(
    ("failure", "code"), [(None, "OTHER"), *((each, each.value) for each in FailureCode)]
)
def test_only_a_failed_refund_has_a_failure_in_our_words(failure: FailureCode | None, code: str):
    shown = show_refund(refund(status=RefundStatus.FAILED, failure=failure))

    assert shown["failure"]["code"] == code
    assert "payout" not in shown["failure"]["message"]


def test_a_payment_says_how_much_was_given_back():
    shown = incoming(PAYMENT)

    assert b'"status":"partly_refunded","value":10.50,"refunded":0.50' in dumps(shown)
    assert shown["payer"]["name"] == "Maria"
    assert "payer" not in incoming(replace(PAYMENT, payer=None))
