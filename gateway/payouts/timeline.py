"""What happened to a payout, in order, and how sure that made us."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, NotRequired, TypedDict, cast

from msgspec import Meta, Struct

from gateway.banks.port.payout_orders import FailureCode
from gateway.core.money import Money, Sum
from gateway.core.schemas import Instant, OptionalMoment, instant
from gateway.payouts.events import Facts, PayoutEvent, begun, evidence_facts, judged
from gateway.payouts.model import Absence, Attempt, EventKind, Payout, PayoutState
from gateway.payouts.opinions import Opinion
from gateway.payouts.status import UNSENT, Certainty, certainty_when

_INSTANTS: Final = frozenset({"asked_at", "settled_at", "held_until"})


class EventFactsDocument(TypedDict):
    """
    What was said, as far as it is kept: never a name, a tax number, a key, or a text of the bank's.

    ``found`` is what a look at the bank found, ``callback`` the id of the callback that came.
    ``moved`` is what the bank moved: where that differs from the order, and in opinions. While
    the payout is in review, nothing is shown of another user's opinion, but that it was withdrawn.
    """

    phase: NotRequired[str]
    bytes_left: NotRequired[bool]
    reason: NotRequired[str]
    http_status: NotRequired[int]
    provider_code: NotRequired[str]
    found: NotRequired[
        Literal["not_found", "settled", "accepted", "rejected", "unknown", "no_answer"]
    ]
    asked_at: NotRequired[Instant]
    provider_id: NotRequired[str]
    e2e_id: NotRequired[str]
    failure: NotRequired[str]
    settled_at: NotRequired[Instant]
    held_until: NotRequired[Instant]
    callback: NotRequired[str]
    by: NotRequired[str]
    verdict: NotRequired[Literal["paid", "failed", "withdrawn"]]
    review: NotRequired[bool]
    moved: NotRequired[Sum]


class HappeningDocument(Struct, frozen=True, kw_only=True):
    """
    One thing that happened, and what was proven before and after it.

    ``answered`` is the end of the call that orders the payout, with an answer or without one.
    ``sent`` is told from it, at the instant at which its try began. ``state`` is empty where
    nothing moved, and ``certainty_before`` before anything was stored.
    """

    kind: Literal["stored", "sent", "answered", "probed", "noticed", "judged", "decided", "expired"]
    at: OptionalMoment
    attempt: int
    state: Annotated[str, Meta(examples=["unknown"])]
    certainty_before: Annotated[str, Meta(examples=["sent_unknown"])]
    certainty_after: Annotated[str, Meta(examples=["settled"])]
    facts: EventFactsDocument


def is_complete(events: Sequence[PayoutEvent]) -> bool:
    """Say whether the events reach back to the payout's beginning."""
    return any(each.attempt == 1 and each.kind is EventKind.STORED for each in events)


def timeline(
    payout: Payout,
    events: Sequence[PayoutEvent],
    attempts: Sequence[Attempt],
    opinions: Sequence[Opinion],
) -> list[HappeningDocument]:
    """
    Return what happened, oldest first.

    What happened before there were events, or so long ago that they are deleted, is told as far
    as tries and opinions know it.
    """
    older = [event for each in attempts for event in _of_attempt(payout, each, events)]
    known = {each.facts.get("by") for each in events if each.kind is EventKind.JUDGED}
    older += [judged(each) for each in opinions if each.by not in known]
    return list(_told(payout, sorted([*older, *events], key=lambda each: each.at)))


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
    # A look at what was not sent asks no bank: only an earlier one, before it was proven, did.
    asked = attempt.outcome is not PayoutState.NOT_SENT
    if attempt.last_probe_at is not None and asked and not probed:
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


def _told(payout: Payout, events: Sequence[PayoutEvent]) -> Iterator[HappeningDocument]:
    """Say of each how sure we were before and after; a try that left is told as sent."""
    left = {
        each.attempt
        for each in events
        if each.kind is EventKind.ANSWERED and each.facts.get("bytes_left") is True
    }
    sure: Certainty | Literal[""] = ""
    absence = None
    for each in events:
        absence = _absence(each, payout) or absence
        after = _certainty(each, absence) or sure
        yield HappeningDocument(
            kind=each.kind.value,
            at=each.at,
            attempt=each.attempt,
            state=each.after or "",
            certainty_before=sure,
            certainty_after=after,
            facts=_facts(each.facts),
        )
        sure = after
        if each.kind is EventKind.STORED and each.attempt in left:
            yield HappeningDocument(
                kind="sent",
                at=each.at,
                attempt=each.attempt,
                state="",
                certainty_before=sure,
                certainty_after=sure,
                facts={},
            )


def _facts(found: Facts) -> EventFactsDocument:
    """Show what is kept; instants as everywhere."""
    shown: dict[str, object] = dict(found)
    moved = shown.pop("moved_centavos", None)
    if isinstance(moved, int):
        shown["moved"] = Money(moved)
    for name in _INSTANTS & found.keys():
        shown[name] = instant(datetime.fromisoformat(str(found[name])))
    return cast("EventFactsDocument", shown)


def _absence(event: PayoutEvent, payout: Payout) -> Absence | None:
    """
    Return who proved by an event that the bank did not execute what may have left.

    Where its facts are not kept, the payout knows.
    """
    if event.kind is EventKind.DECIDED:
        return payout.absence
    if _certainty(event, None) not in UNSENT:
        return None
    has_left = event.facts.get("bytes_left")
    if has_left is None:
        return payout.absence
    return Absence.BANK if has_left is True else None


def _certainty(event: PayoutEvent, absence: Absence | None) -> Certainty | Literal[""]:
    if event.after is None:
        return ""
    code = FailureCode.NOT_SENT if event.facts.get("failure") == FailureCode.NOT_SENT else None
    return certainty_when(event.after, code, absence)
