"""Domain values into the documents of the back office."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.domain.accounts.accounts import Company
from gateway.domain.backoffice.approvals import ApprovalState
from gateway.domain.bank.charges import Payer
from gateway.domain.bank.incoming import IncomingPayment
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.pix_keys import KeyOwner, PixKeyType
from gateway.domain.bank.refunds import RefundStatus
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Paging
from gateway.http.backoffice import represent
from gateway.http.json import dumps
from gateway.operations.backoffice.visible_accounts import OwnedAccount
from gateway.operations.bank.pages import Listed
from gateway.operations.bank.reports import Report
from tests.contract.stores.samples import payout
from tests.unit.gateway.http.backoffice.ordering import WAITING
from tests.unit.gateway.http.backoffice.surface import OFFICE, STAFF
from tests.unit.offering import E2E_ID, refund
from tests.unit.people import COMPANY, account
from tests.unit.standing import NOON

OWNED = OwnedAccount(account(), Company(COMPANY, "Padaria", NOON))
PAYMENT = IncomingPayment(
    reference="order-1",
    e2e_id=E2E_ID,
    provider_id="7",
    value=Money(1050),
    refunded=Money(50),
    paid_at=NOON,
    payer=Payer(name="Maria", tax_number="52998224725"),
)


def test_an_account_is_shown_with_its_owner_and_no_credentials():
    shown = represent.account(OWNED, OFFICE).content

    assert shown["company"] == {"id": COMPANY, "name": "Padaria"}
    assert "sealed" not in str(shown)
    assert shown["provider_account"] == OWNED.account.provider_account
    assert shown["has_credentials"] is bool(OWNED.account.sealed_credentials)


def test_an_owner_whose_record_is_missing_has_no_name():
    shown = represent.account(OwnedAccount(account(), None), OFFICE).content

    assert shown["company"] == {"id": COMPANY, "name": ""}


def test_a_page_of_accounts_says_where_it_lies():
    page = Listed(items=[OWNED], paging=Paging(2, 1), total=2)

    shown = represent.accounts(page, STAFF)

    assert shown["meta"] == {"page": 2, "limit": 1, "total": 2}
    assert shown["data"] == [represent.account(OWNED, OFFICE).content]


def test_a_report_is_a_file_to_be_kept():
    shown = represent.report(Report(file_name="a.csv", media_type="text/csv", content=b"a"), OFFICE)

    assert (shown.content, shown.content_type) == (b"a", "text/csv")
    assert shown.headers["Content-Disposition"] == 'attachment; filename="a.csv"'


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("52998224725", "***.982.247-**"),
        ("***.982.247-**", "***.982.247-**"),
        ("11222333000181", "11222333000181"),
    ],
)
def test_the_ends_of_a_persons_number_are_hidden_whatever_the_bank_tells(stored: str, shown: str):
    owner = KeyOwner(
        key="a@b.c", type=PixKeyType.EMAIL, name="Maria", tax_number=stored, ispb="99999999"
    )

    assert represent.key_owner(owner, OFFICE)["tax_number"] == shown


def test_a_payment_says_how_much_was_given_back():
    shown = represent.incoming(Listed(items=[PAYMENT], paging=Paging(1, 25), total=1), OFFICE)

    (data,) = shown["data"]
    assert b'"status":"partly_refunded","value":10.50,"refunded":0.50' in dumps(data)
    assert data["payer"]["name"] == "Maria"


def test_a_payment_of_nobody_has_no_payer():
    page = Listed(items=[replace(PAYMENT, payer=None)], paging=Paging(1, 25), total=1)

    assert "payer" not in represent.incoming(page, OFFICE)["data"][0]


def test_a_refund_names_the_payment_it_gives_back():
    shown = represent.refund(refund(), OFFICE)

    assert shown["transaction"] == {"reference": "order-1", "e2e_id": E2E_ID}
    assert (shown["status"], "failure" in shown) == ("paid", False)


@pytest.mark.parametrize(
    ("failure", "code"), [(None, "OTHER"), *((each, each.value) for each in FailureCode)]
)
def test_only_a_failed_refund_has_a_failure_in_our_words(failure: FailureCode | None, code: str):
    shown = represent.refund(refund(status=RefundStatus.FAILED, failure=failure), OFFICE)

    assert shown["failure"]["code"] == code
    assert "payout" not in shown["failure"]["message"]


def test_refunds_are_paged():
    page = Listed(items=[refund()], paging=Paging(1, 25), total=7)

    assert represent.refunds(page, OFFICE)["meta"]["total"] == 7


def test_an_approval_shows_nothing_that_is_sealed():
    shown = represent.approval(WAITING)

    assert (shown["id"], shown["status"], shown["decided_at"]) == (WAITING.id, "waiting", "")
    assert "sealed" not in str(shown)


def test_a_decision_is_shown():
    decided = replace(
        WAITING, state=ApprovalState.REJECTED, decider="user:ana", decided_at=NOON, reason="no"
    )

    shown = represent.approval(decided)

    assert (shown["status"], shown["decided_by"], shown["reason"]) == ("rejected", "user:ana", "no")


@pytest.mark.parametrize(
    ("show", "moved"),
    [(represent.ordered_payout, payout()), (represent.ordered_refund, refund())],
)
def test_an_order_is_answered_by_what_it_moved_or_that_it_waits(show, moved):
    done, waits = show(moved, OFFICE), show(WAITING, OFFICE)

    assert (done.status, done.content["reference"]) == (None, moved.reference)
    assert waits.status == 202
    assert dumps(waits.content) == dumps(represent.approval(WAITING))
