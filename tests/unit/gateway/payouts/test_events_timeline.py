"""What happened to a payout, in order, and how sure that made us."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.banks.port.providers import Evidence, Phase
from gateway.payouts.events import HappeningDocument, PayoutEvent, is_complete, timeline
from gateway.payouts.model import Absence, EventKind, Opinion, PayoutState, Verdict
from tests.world.stores.samples import ACCOUNT, NOW, attempt, payout

SECOND = timedelta(seconds=1)
SENDING, UNKNOWN, PAID = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.PAID
LOST = Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")
MARIA = Opinion(
    account_id=ACCOUNT,
    reference="order-1",
    verdict=Verdict.PAID,
    reason="extrato",
    by="maria",
    at=NOW + 9 * SECOND,
    attempt=1,
    state=UNKNOWN,
)


def event(
    kind: EventKind, after: PayoutState | None = None, seconds: int = 0, **facts: str | int | bool
) -> PayoutEvent:
    return PayoutEvent(
        account_id=ACCOUNT,
        reference="order-1",
        attempt=1,
        kind=kind,
        at=NOW + seconds * SECOND,
        after=after,
        facts=facts,
    )


STORED = event(EventKind.STORED, SENDING)


def lines(found: list[HappeningDocument]) -> list[tuple[str, str, str]]:
    """Return kind and what was proven before and after."""
    return [(each.kind, each.certainty_before, each.certainty_after) for each in found]


def of(*events: PayoutEvent) -> list[tuple[str, str, str]]:
    return lines(list(timeline(payout(), events, [attempt()], [])))


def test_each_event_shows_the_certainty_after_it():
    found = of(
        STORED,
        event(EventKind.ANSWERED, UNKNOWN, 1, bytes_left=True),
        event(EventKind.NOTICED, seconds=2),
        event(EventKind.PROBED, seconds=3, found="not_found"),
        event(EventKind.PROBED, PAID, 4),
    )

    assert found == [
        ("stored", "", "sent_unknown"),
        ("sent", "sent_unknown", "sent_unknown"),
        ("answered", "sent_unknown", "sent_unknown"),
        ("noticed", "sent_unknown", "sent_unknown"),
        ("probed", "sent_unknown", "sent_unknown"),
        ("probed", "sent_unknown", "settled"),
    ]


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        (EventKind.ANSWERED, {"bytes_left": False}),
        (EventKind.ANSWERED, {}),
        (EventKind.EXPIRED, {"bytes_left": True}),
    ],
    ids=["no byte left", "not known any more", "assumed alone"],
)
def test_only_orders_proven_to_have_left_are_shown_as_sent(kind: EventKind, facts: dict[str, bool]):
    found = of(STORED, event(kind, UNKNOWN, 1, **facts))

    assert "sent" not in [kind for kind, _, _ in found]


def test_a_callback_before_the_answer_is_listed_first():
    found = of(
        STORED,
        event(EventKind.ANSWERED, PAID, 2, bytes_left=True),
        event(EventKind.NOTICED, seconds=1),
    )

    assert [kind for kind, _, _ in found] == ["stored", "sent", "noticed", "answered"]


def test_a_payout_failed_as_not_sent_is_shown_as_unsent():
    ended = event(EventKind.EXPIRED, PayoutState.FAILED, 9, failure="NOT_SENT")

    assert of(STORED, ended)[-1] == ("expired", "sent_unknown", "not_sent")


def test_a_payout_not_executed_is_shown_so_in_every_later_entry():
    """A later unsent attempt, or the end of its day, does not make it unsent."""
    found = of(
        STORED,
        event(EventKind.ANSWERED, UNKNOWN, 1, bytes_left=True),
        event(EventKind.PROBED, PayoutState.NOT_SENT, 2, bytes_left=True, reason="absent"),
        replace(event(EventKind.STORED, SENDING, 3), attempt=2),
        replace(event(EventKind.ANSWERED, PayoutState.NOT_SENT, 4, bytes_left=False), attempt=2),
        event(EventKind.EXPIRED, PayoutState.FAILED, 9, failure="NOT_SENT"),
    )

    assert [after for _, _, after in found][3:] == [
        *("not_executed", "sent_unknown", "not_executed", "not_executed")
    ]


@pytest.mark.parametrize(("absence", "word"), [(None, "not_sent"), (Absence.BANK, "not_executed")])
def test_the_payout_s_absence_completes_an_event_without_facts(absence: Absence | None, word: str):
    events = [STORED, event(EventKind.PROBED, PayoutState.NOT_SENT, 1)]

    found = timeline(replace(payout(), absence=absence), events, [attempt()], [])

    assert found[-1].certainty_after == word


def test_a_payout_without_events_is_shown_by_attempts_and_opinions():
    """As far as those show it: the latest evidence, and the last query."""
    tried = replace(
        attempt(),
        outcome=UNKNOWN,
        evidence=LOST,
        ended_at=NOW + SECOND,
        last_probe_at=NOW + 5 * SECOND,
    )

    found = list(timeline(payout(), [], [tried], [MARIA]))

    assert [each.kind for each in found] == ["stored", "sent", "answered", "probed", "judged"]
    assert found[2].facts["reason"] == "timeout"
    assert found[2].at == NOW + SECOND


def test_an_unsent_payout_without_a_query_shows_no_query():
    """The planned check at the end of its day is not a query."""
    tried = replace(
        attempt(),
        outcome=PayoutState.NOT_SENT,
        evidence=Evidence(phase=Phase.CONNECTING, bytes_left=False, reason="refused"),
        ended_at=NOW + SECOND,
        last_probe_at=NOW + 5 * SECOND,
    )
    events = [STORED, event(EventKind.ANSWERED, PayoutState.NOT_SENT, 1, bytes_left=False)]

    for kept in (events, []):
        found = timeline(payout(), kept, [tried], [])
        assert [each.kind for each in found] == ["stored", "answered"]


def test_steps_shown_as_events_are_not_repeated_from_the_attempt():
    tried = replace(
        attempt(),
        outcome=PAID,
        evidence=LOST,
        ended_at=NOW + SECOND,
        last_probe_at=NOW + 5 * SECOND,
    )
    events = [
        STORED,
        event(EventKind.ANSWERED, UNKNOWN, 1),
        event(EventKind.PROBED, PAID, 5),
        event(EventKind.JUDGED, seconds=9, by="maria"),
    ]

    found = timeline(payout(), events, [tried], [MARIA])

    assert [each.kind for each in found] == ["stored", "answered", "probed", "judged"]


def test_a_payout_with_some_events_is_shown_by_events_and_attempts():
    """Its order is older than events, its end is not."""
    tried = replace(attempt(), outcome=PAID, evidence=LOST, ended_at=NOW + SECOND)

    found = timeline(payout(), [event(EventKind.PROBED, PAID, 60)], [tried], [])

    assert [each.kind for each in found] == ["stored", "probed"]
    assert not is_complete([event(EventKind.PROBED, PAID, 60)])
    assert is_complete([STORED])


def test_a_running_attempt_is_shown_as_stored_alone():
    assert of(STORED) == [("stored", "", "sent_unknown")]
    assert lines(list(timeline(payout(), [], [attempt()], []))) == [("stored", "", "sent_unknown")]
