"""One word for how sure we are."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Evidence, Phase
from gateway.payouts.model import (
    Absence,
    Certainty,
    CertaintySought,
    EventKind,
    Failure,
    PayoutState,
    PayoutStatus,
    certainty_of,
    states_of,
    status_of,
)
from tests.world.stores.samples import change, payout

ABSENT = Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="absent")
NO_BYTE = Evidence(phase=Phase.CONNECTING, bytes_left=False, reason="refused")
UNSENT, OTHER = Failure(FailureCode.NOT_SENT), Failure(FailureCode.OTHER)
DECIDED = EventKind.DECIDED

WORDS = {
    PayoutState.HELD: Certainty.HELD,
    PayoutState.SENDING: Certainty.SENT_UNKNOWN,
    PayoutState.UNKNOWN: Certainty.SENT_UNKNOWN,
    PayoutState.NOT_SENT: Certainty.NOT_SENT,
    PayoutState.ACCEPTED: Certainty.CONFIRMED_ACCEPTED,
    PayoutState.PAID: Certainty.SETTLED,
    PayoutState.REJECTED: Certainty.CONFIRMED_REJECTED,
    PayoutState.FAILED: Certainty.CONFIRMED_REJECTED,
}


def test_every_state_has_a_certainty():
    wrong = [
        state
        for state in PayoutState
        if certainty_of(replace(payout(), state=state)) is not WORDS[state]
    ]

    assert wrong == []


def test_a_payout_failed_as_not_sent_has_the_certainty_not_sent():
    for code in FailureCode:
        failed = replace(payout(), state=PayoutState.FAILED, failure=Failure(code))

        word = certainty_of(failed)

        expected = Certainty.CONFIRMED_REJECTED
        assert word is (Certainty.NOT_SENT if code is FailureCode.NOT_SENT else expected)


def test_a_payout_absent_at_the_bank_has_the_certainty_not_executed():
    """Before and after the end of its day, whatever people decided before."""
    for state, failure in (
        (PayoutState.NOT_SENT, None),
        (PayoutState.FAILED, Failure(FailureCode.NOT_SENT)),
    ):
        about = replace(payout(), state=state, failure=failure)

        assert certainty_of(about) is Certainty.NOT_SENT
        assert certainty_of(replace(about, absence=Absence.BANK)) is Certainty.NOT_EXECUTED


def test_an_earlier_absence_does_not_change_a_later_state_s_certainty():
    for state in set(PayoutState) - {PayoutState.NOT_SENT}:
        about = replace(payout(), state=state, absence=Absence.BANK)

        assert certainty_of(about) is WORDS[state]


def test_a_payout_closed_by_people_has_the_certainty_decided_unpaid():
    about = replace(payout(), state=PayoutState.FAILED, failure=OTHER, absence=Absence.PEOPLE)

    assert certainty_of(about) is Certainty.DECIDED_UNPAID


def test_a_search_for_an_older_certainty_finds_both_newer_ones():
    """Each certainty has a search of its own."""
    pairs = {
        CertaintySought.NOT_SENT: {Certainty.NOT_SENT, Certainty.NOT_EXECUTED},
        CertaintySought.CONFIRMED_REJECTED: {
            *(Certainty.CONFIRMED_REJECTED, Certainty.DECIDED_UNPAID)
        },
    }
    assert {each: each.words for each in pairs} == pairs
    alone = [each.words for each in CertaintySought if each not in pairs]
    assert sorted(alone, key=sorted) == sorted([{each} for each in Certainty], key=sorted)


@pytest.mark.parametrize(
    ("step", "absence"),
    [
        ({"after": PayoutState.NOT_SENT, "evidence": ABSENT}, Absence.BANK),
        ({"after": PayoutState.NOT_SENT, "evidence": NO_BYTE}, None),
        ({"after": PayoutState.UNKNOWN, "evidence": ABSENT}, None),
        ({"after": PayoutState.FAILED, "evidence": ABSENT, "failure": UNSENT}, Absence.BANK),
        ({"after": PayoutState.FAILED, "failure": UNSENT}, None),
        ({"after": PayoutState.FAILED, "evidence": ABSENT, "failure": OTHER}, None),
        ({"after": PayoutState.FAILED, "failure": OTHER, "cause": DECIDED}, Absence.PEOPLE),
        ({"after": PayoutState.PAID, "cause": DECIDED}, None),
    ],
)
def test_a_state_change_records_who_proved_the_absence(
    step: dict[str, Any], absence: Absence | None
):
    about = change(PayoutState.UNKNOWN, PayoutState.NOT_SENT)

    assert replace(about, **step).absence is absence


ENDED = {
    PayoutState.PAID: PayoutStatus.PAID,
    PayoutState.REJECTED: PayoutStatus.FAILED,
    PayoutState.FAILED: PayoutStatus.FAILED,
}


def test_an_uncertain_payout_is_still_processing():
    """Not sent, unknown and accepted alike: callers need not handle our uncertainty."""
    wrong = [
        state
        for state in PayoutState
        if status_of(state) is not ENDED.get(state, PayoutStatus.PROCESSING)
    ]

    assert wrong == []


def test_every_state_is_found_by_exactly_its_own_status():
    """A search finds exactly what is shown with that status."""
    found = [(state, status) for status in PayoutStatus for state in states_of(status)]

    assert sorted(found) == sorted((state, status_of(state)) for state in PayoutState)
