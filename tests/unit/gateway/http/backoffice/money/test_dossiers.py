"""The row that tells everything of one payout."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.domain.accounts.credentials import Action
from gateway.domain.bank.providers import Evidence, Phase
from gateway.domain.identity.rights import Area, Right, needs_step_up
from gateway.domain.kernel import errors
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.payouts import Attempt, PayoutState
from gateway.http.backoffice.money.dossiers import DossierDocuments
from gateway.operations.payouts.records import Case, Dossier
from tests.unit.gateway.http.backoffice.surface import OFFICE, becomes, line
from tests.world.standing import NOON
from tests.world.stores.samples import payout

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


def told(state: PayoutState, *attempts: Attempt):
    about = replace(payout(), state=state, attempt=attempts[-1].number)
    case = Case(payout=about, attempts=attempts)
    shown = DossierDocuments({"sandbox": 5 * SECOND})
    return shown.dossier(Dossier(case=case, similar=(), opinions=(), returns=()), OFFICE)


def test_the_row_is_the_one_decided():
    assert line("withdraw_dossier") == (
        "GET",
        "/withdraw/{reference}/dossier",
        "payout:read",
        200,
    )


@pytest.mark.parametrize(
    ("state", "certainty"),
    [
        (PayoutState.UNKNOWN, "sent_unknown"),
        (PayoutState.ACCEPTED, "confirmed_accepted"),
        (PayoutState.PAID, "settled"),
    ],
)
def test_it_tells_what_is_proven(state: PayoutState, certainty: str):
    document = told(state, attempt())

    assert (document["state"], document["certainty"]) == (state.value, certainty)
    assert document["attempts"][0]["evidence"]["reason"] == "no_answer"
    assert document["attempts"][0]["evidence"]["http_status"] == 0


def test_only_the_latest_try_of_an_open_payout_is_looked_at_again():
    unknown = told(PayoutState.UNKNOWN, attempt(1), attempt(2))
    paid = told(PayoutState.PAID, attempt(1))

    assert [each["next_probe_at"] for each in unknown["attempts"]] == ["", "2026-11-20T12:00:30Z"]
    assert [each["next_probe_at"] for each in paid["attempts"]] == [""]


def test_a_try_that_runs_has_no_evidence():
    [shown] = told(PayoutState.SENDING, attempt(evidence=None))["attempts"]

    assert "evidence" not in shown
    assert shown["outcome"] == ""


def test_absence_is_a_proof_of_what_is_unknown_alone():
    """As long after the lease as the bank's adapter declares."""
    assert told(PayoutState.UNKNOWN, attempt())["absent_at"] == "2026-11-20T12:31:20Z"
    assert told(PayoutState.ACCEPTED, attempt())["absent_at"] == ""
    assert DossierDocuments({}).absent_at(replace(payout(), state=PayoutState.UNKNOWN)) == ""


def test_a_probe_is_a_right_of_its_own():
    assert line("withdraw_probe") == ("POST", "/withdraw/{reference}/probe", "probe:write", 200)
    assert not needs_step_up(Right(Area.PROBE, Action.WRITE))


def test_it_fails_as_stores_do():
    assert becomes("withdraw_dossier", StoreUnavailable("down")) == errors.STORE_UNAVAILABLE.name
