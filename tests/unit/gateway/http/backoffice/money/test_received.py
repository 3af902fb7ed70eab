"""The rows of what came in, and of refunds."""

from __future__ import annotations

import pytest

from gateway.domain.bank.providers import NotFound, Unavailable, Unreachable
from gateway.domain.bank.refunds import RefundRequest
from gateway.domain.kernel.money import Money
from gateway.http.backoffice.money.received import refund_rows
from gateway.http.route import Answer
from tests.contract.stores.samples import payout
from tests.unit.gateway.http.backoffice.ordering import WAITING, Only, Says
from tests.unit.gateway.http.backoffice.surface import MARIA, OFFICE, becomes, gate_of, line
from tests.unit.offering import refund
from tests.unit.people import posted

BODY = {"reference": "refund-1", "value": 10.5}


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        (
            "pix_transactions",
            ("POST", "/pix/transactions/search", "transaction:read", 200),
        ),
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
    names = ["pix_transactions", "pix_refunds", "pix_refund", "pix_refund_create"]

    assert ["AccountState" in gate_of(name) for name in names] == [False, False, False, True]


@pytest.mark.parametrize(
    ("name", "problem", "error"),
    [
        ("pix_transactions", Unavailable("a"), "transaction_unavailable"),
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
