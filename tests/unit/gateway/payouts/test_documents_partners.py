"""Payouts into documents for partners."""

from __future__ import annotations

import dataclasses

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.core.windows import Listed, Paging
from gateway.payouts import documents
from gateway.payouts.model import Failure, Payout, PayoutState
from tests.unit.partner_documents import CALLER, ORIGIN, shown
from tests.world.people import ACCOUNT
from tests.world.standing import NOON
from tests.world.stores import samples


def payout(**changed: object) -> Payout:
    """A payout as it is stored."""
    return dataclasses.replace(samples.payout("order-1"), **changed)  # type: ignore[arg-type]


VISIBLE = {
    PayoutState.HELD: "processing",
    PayoutState.SENDING: "processing",
    PayoutState.UNKNOWN: "processing",
    PayoutState.NOT_SENT: "processing",
    PayoutState.ACCEPTED: "processing",
    PayoutState.PAID: "paid",
    PayoutState.REJECTED: "failed",
    PayoutState.FAILED: "failed",
}


@pytest.mark.parametrize("state", list(PayoutState))
def test_each_state_is_shown_as_one_of_three_statuses(state: PayoutState):
    """Everything not final is processing; only a failed one has a failure."""
    document = documents.payout(payout(state=state), CALLER)

    assert document["status"] == VISIBLE[state]
    assert ("failure" in document) is (VISIBLE[state] == "failed")


@pytest.mark.parametrize("code", list(FailureCode))
def test_a_failure_is_reported_in_our_own_words(code: FailureCode):
    document = documents.payout(payout(state=PayoutState.FAILED, failure=Failure(code)), CALLER)

    assert document["failure"]["code"] == code.value
    assert document["failure"]["message"]


def test_a_failure_without_a_code_is_other():
    document = documents.payout(payout(state=PayoutState.FAILED, failure=None), CALLER)

    assert document["failure"]["code"] == "OTHER"


@pytest.mark.parametrize("state", list(PayoutState))
def test_a_created_payout_is_always_shown_as_processing(state: PayoutState):
    """Contract part 3: acceptance, not settlement; also for a repeat."""
    settled = payout(state=state, settled_at=NOON, failure=Failure(FailureCode.OTHER))

    document = documents.payout_created(settled, CALLER)

    assert (document["status"], document["settled_at"]) == ("processing", "")
    assert "failure" not in document


def test_a_payout_document_has_origin_and_destination():
    """The origin from our record, the destination as sent, without omitted fields."""
    sent = {"name": "", "tax_number": "529.982.247-25", "key_type": "email", "key": "A@b.c"}

    document = shown(documents.payout(payout(destination_sent=sent, e2e_id="E1"), CALLER))

    assert document["origin"] == ORIGIN
    assert document["destination"] == {
        "tax_number": "529.982.247-25", "key_type": "email", "key": "A@b.c",
    }  # fmt: skip
    assert list(document) == [
        "reference", "method", "status", "value", "date", "description", "e2e_id", "created_at",
        "updated_at", "settled_at", "origin", "destination",
    ]  # fmt: skip


def test_a_page_of_payouts_has_its_meta_data():
    page = Listed(items=[payout(), payout()], paging=Paging(1, 2), total=9)

    document = documents.payouts(page, CALLER)

    assert len(document["data"]) == 2
    assert document["meta"] == {"page": 1, "limit": 2, "total": 9}
    assert CALLER.account.id == ACCOUNT


def test_a_document_for_absent_fields_is_not_implemented():
    with pytest.raises(NotImplementedError):
        documents.nothing(None, CALLER)  # type: ignore[arg-type]
