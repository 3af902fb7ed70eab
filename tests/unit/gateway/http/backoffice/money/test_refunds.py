"""Refunds: read, and ordered by users."""

from __future__ import annotations

import pytest

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.providers import NotFound, Unavailable, Unreachable
from gateway.domain.bank.refunds import RefundRequest, RefundStatus
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Paging
from gateway.http.backoffice.money.refunds import ordered_refund, refund_rows, refunds
from gateway.http.backoffice.money.refunds import refund as show_refund
from gateway.http.route import Answer
from gateway.operations.bank.pages import Listed
from tests.unit.gateway.http.backoffice.ordering import WAITING, Only, Says
from tests.unit.gateway.http.backoffice.surface import MARIA, OFFICE, becomes, gate_of, line
from tests.unit.offering import E2E_ID, refund
from tests.world.people import posted
from tests.world.stores.samples import payout

BODY = {"reference": "refund-1", "value": 10.5}


@pytest.mark.parametrize(
    ("name", "declared"),
    [
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
        ("pix_refunds", NotFound("a"), "transaction_unavailable"),
        ("pix_refund", NotFound("a"), "transaction_not_found"),
        ("pix_refund", Unavailable("a"), "transaction_unavailable"),
        ("pix_refund_create", Unreachable("a"), "refund_not_sent"),
        ("pix_refund_create", Unavailable("a"), "refund_unknown"),
    ],
)
def test_a_failure_has_the_rows_own_code(name: str, problem: Exception, error: str):
    assert becomes(name, problem) == error


async def gives_back(says: Says) -> Answer[object]:
    """Order a refund of the payment order-1."""
    (row,) = refund_rows(Only(says))  # type: ignore[arg-type]
    asked = posted(BODY)
    asked.path = {"reference": "order-1"}
    shown = await row.serve(OFFICE, asked)
    assert isinstance(shown, Answer)
    return shown


async def test_a_refund_is_ordered_by_the_person_on_the_account():
    says = Says(refund())

    shown = await gives_back(says)

    wanted = RefundRequest(reference="refund-1", payment="order-1", value=Money(1050))
    assert says.asked == [(MARIA, OFFICE.account, wanted)]
    assert (shown.status, shown.content["reference"]) == (None, "refund-1")  # type: ignore[index]


async def test_a_refund_that_waits_is_answered_by_202():
    shown = await gives_back(Says(WAITING))

    assert (shown.status, shown.content["status"]) == (202, "waiting")  # type: ignore[index]


async def test_what_is_no_refund_is_a_mistake_of_ours():
    with pytest.raises(TypeError):
        await gives_back(Says(payout()))


def test_a_refund_names_the_payment_it_gives_back():
    shown = show_refund(refund(), OFFICE)

    assert shown["transaction"] == {"reference": "order-1", "e2e_id": E2E_ID}
    assert (shown["status"], "failure" in shown) == ("paid", False)


@pytest.mark.parametrize(
    ("failure", "code"), [(None, "OTHER"), *((each, each.value) for each in FailureCode)]
)
def test_only_a_failed_refund_has_a_failure_in_our_words(failure: FailureCode | None, code: str):
    shown = show_refund(refund(status=RefundStatus.FAILED, failure=failure), OFFICE)

    assert shown["failure"]["code"] == code
    assert "payout" not in shown["failure"]["message"]


def test_refunds_are_paged():
    page = Listed(items=[refund()], paging=Paging(1, 25), total=7)

    assert refunds(page, OFFICE)["meta"]["total"] == 7


@pytest.mark.parametrize("waits", [False, True])
def test_an_order_is_answered_by_the_refund_or_that_it_waits(waits: bool):
    shown = ordered_refund(WAITING if waits else refund(), OFFICE)

    assert shown.status == (202 if waits else None)
    assert shown.content["reference"] == (WAITING if waits else refund()).reference
