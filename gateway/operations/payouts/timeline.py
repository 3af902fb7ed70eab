"""What happened to a payout, in order, and how sure that made us."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.payouts.events import Facts, PayoutEvent, begun, evidence_facts, judged
from gateway.domain.payouts.payouts import Attempt, EventKind, Payout, PayoutState
from gateway.domain.payouts.reviews import Opinion
from gateway.domain.payouts.status import Certainty, certainty_when

SENT: Final = "sent"
"""Told from what ended the try's call: nobody writes while bytes leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """
    One line of a payout's timeline.

    Attributes:
        kind: A word of ``EventKind``, or ``SENT``, whose instant is that of the try's beginning.
        state: That it led to; None where it led to none.
        before, after: What was proven; None before anything was stored.
    """

    kind: str
    at: datetime
    attempt: int
    state: PayoutState | None
    before: Certainty | None
    after: Certainty | None
    facts: Facts = field(default_factory=dict)


def is_complete(events: Sequence[PayoutEvent]) -> bool:
    """Say whether the events reach back to the payout's beginning."""
    return any(each.attempt == 1 and each.kind is EventKind.STORED for each in events)


def timeline(
    payout: Payout,
    events: Sequence[PayoutEvent],
    attempts: Sequence[Attempt],
    opinions: Sequence[Opinion],
) -> Sequence[Happening]:
    """
    Return what happened, oldest first.

    What happened before there were events, or so long ago that they are deleted, is told as far
    as tries and opinions know it.
    """
    older = [event for each in attempts for event in _of_attempt(payout, each, events)]
    known = {each.facts.get("by") for each in events if each.kind is EventKind.JUDGED}
    older += [judged(each) for each in opinions if each.by not in known]
    return list(_told(sorted([*older, *events], key=lambda each: each.at)))


def _of_attempt(
    payout: Payout, attempt: Attempt, events: Sequence[PayoutEvent]
) -> Iterator[PayoutEvent]:
    """Tell of a try what none of its events does."""
    own = [each for each in events if each.attempt == attempt.number]
    if not any(each.kind is EventKind.STORED for each in own):
        yield begun(payout, attempt)
    ended = any(each.after and each.kind is not EventKind.STORED for each in own)
    if attempt.ended_at is not None and not ended:
        yield _event(payout, attempt, EventKind.ANSWERED, attempt.ended_at)
    probed = any(each.kind is EventKind.PROBED for each in own)
    if attempt.last_probe_at is not None and not probed:
        yield _event(payout, attempt, EventKind.PROBED, attempt.last_probe_at)


def _event(payout: Payout, attempt: Attempt, kind: EventKind, at: datetime) -> PayoutEvent:
    """Tell what is left of an older event; an attempt knows its latest evidence alone."""
    is_answer = kind is EventKind.ANSWERED
    evidence = attempt.evidence if is_answer else None
    return PayoutEvent(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=attempt.number,
        kind=kind,
        at=at,
        after=attempt.outcome if is_answer else None,
        facts={} if evidence is None else evidence_facts(evidence),
    )


def _told(events: Sequence[PayoutEvent]) -> Iterator[Happening]:
    """Say of each how sure we were before and after; a try that left is told as sent."""
    left = {
        each.attempt
        for each in events
        if each.kind is EventKind.ANSWERED and each.facts.get("bytes_left") is True
    }
    sure: Certainty | None = None
    for each in events:
        after = sure if each.after is None else _certainty(each.after, each.facts)
        yield Happening(
            kind=each.kind.value,
            at=each.at,
            attempt=each.attempt,
            state=each.after,
            before=sure,
            after=after,
            facts=each.facts,
        )
        sure = after
        if each.kind is EventKind.STORED and each.attempt in left:
            yield Happening(
                kind=SENT, at=each.at, attempt=each.attempt, state=None, before=sure, after=sure
            )


def _certainty(state: PayoutState, facts: Facts) -> Certainty:
    return certainty_when(state, never_sent=facts.get("failure") == FailureCode.NOT_SENT.value)
