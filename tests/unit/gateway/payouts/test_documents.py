"""Payouts as staff are shown them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Evidence, Phase, PixReturn
from gateway.core.money import Money
from gateway.http.rendering import document_of, dumps
from gateway.payouts import documents as payout_documents
from gateway.payouts.documents import (
    DossierDocument,
    FoundPayout,
    PayoutDetail,
    PayoutWithReturns,
    is_open,
)
from gateway.payouts.model import Attempt, Failure, PayoutState
from tests.unit.gateway.http.surface import OFFICE
from tests.world.standing import NOON
from tests.world.stores.samples import account, payout

SECOND = timedelta(seconds=1)
LOST = Evidence(phase=Phase.SENT, bytes_left=True, reason="no_answer")


def attempt(number: int = 1, *, evidence: Evidence | None = LOST) -> Attempt:
    return Attempt(
        number=number,
        provider="sandbox",
        started_at=NOON,
        send_deadline=NOON + 10 * SECOND,
        lease_until=NOON + 20 * SECOND,
        trace_id="t",
        outcome=PayoutState.UNKNOWN if evidence else None,
        evidence=evidence,
        next_probe_at=NOON + 30 * SECOND,
    )


def told(state: PayoutState, *attempts: Attempt) -> DossierDocument:
    about = replace(payout(), state=state, attempt=attempts[-1].number)
    found = PayoutDetail(
        account=account(), payout=about, attempts=attempts, similar=(), opinions=(), returns=()
    )
    return found.to_document(None)


def test_only_the_latest_attempt_of_an_open_payout_has_a_next_query():
    unknown = told(PayoutState.UNKNOWN, attempt(1), attempt(2))
    paid = told(PayoutState.PAID, attempt(1))

    assert [each.next_probe_at for each in unknown.attempts] == [None, NOON + 30 * SECOND]
    assert [each.next_probe_at for each in paid.attempts] == [None]


def test_a_running_attempt_has_no_evidence():
    [shown] = told(PayoutState.SENDING, attempt(evidence=None)).attempts

    assert "evidence" not in document_of(shown)
    assert shown.outcome == ""


RETURN = PixReturn(id="D9999999920261122134011ABCDEFGHI", value=Money(400), at=NOON)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (PayoutState.ACCEPTED, "2026-11-20T12:00:00Z"),
        (PayoutState.PAID, ""),
        (PayoutState.FAILED, ""),
    ],
)
def test_users_see_the_end_of_the_bank_s_hold(state: PayoutState, told: str):
    found = replace(payout(), state=state, held_until=NOON)

    shown = PayoutWithReturns(account(), found, ()).to_document(None)

    assert (shown["held_until"], shown["returns"]) == (told, [])


def test_returns_are_shown_beside_a_payout_that_stays_paid():
    found = replace(payout(), state=PayoutState.PAID)

    shown = PayoutWithReturns(account(), found, [RETURN]).to_document(None)

    assert shown["status"] == "paid"
    assert dumps(shown["returns"]) == (
        b'[{"id":"D9999999920261122134011ABCDEFGHI","value":4.00,"at":"2026-11-20T12:00:00Z"}]'
    )


def test_partners_see_neither_the_hold_s_end_nor_returns():
    """Contract 2.6 lists the fields of a payout."""
    found = replace(payout(), state=PayoutState.ACCEPTED, held_until=NOON)

    shown = payout_documents.payout(found, OFFICE)

    assert shown["status"] == "processing"
    assert not {"held_until", "returns"} & shown.keys()


def test_a_found_payout_shows_a_masked_tax_number():
    failed = replace(payout(), state=PayoutState.FAILED, failure=Failure(FailureCode.NOT_SENT))

    shown = FoundPayout(failed, "Padaria").to_document(None)

    assert shown.payee_tax_number == "***.982.247-**"
    assert (shown.certainty, shown.failure_code) == ("not_sent", "NOT_SENT")
    assert (shown.status, shown.account_name) == ("failed", "Padaria")
    assert not is_open([shown])
