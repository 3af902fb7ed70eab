"""
Events of payouts, and the timeline built from them.

Banks' and users' words are kept as far as allowed. Events are only ever added. A step, a try and
its event are one transaction, so none of them is there without the other. What happened before
there were events is known by attempts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Final, Literal, NotRequired, TypedDict, cast

from msgspec import Meta, Struct

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Evidence, Settled
from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import Money, Sum
from gateway.core.schemas import Instant, OptionalMoment, instant
from gateway.payouts.model import (
    UNSENT,
    Absence,
    Attempt,
    Certainty,
    Change,
    EventKind,
    Opinion,
    Payout,
    PayoutState,
    certainty_when,
)

Fact = str | int | bool
"""A text, a number, or yes and no."""
Facts = Mapping[str, Fact]

KEPT_FACTS: Final = frozenset(
    {
        *("phase", "bytes_left", "reason", "http_status", "provider_code"),
        *("found", "asked_at", "provider_id", "e2e_id", "failure", "settled_at", "held_until"),
        *("callback", "by", "verdict", "review", "moved_centavos"),
    }
)
"""
Whatever else is said of a payout is in no event: nobody's name, tax number or key.

Of amounts there is one: what the bank moved, where it is not what was ordered.
"""


FIRST_PAYEE: Final = "first_payee"
"""Why a payout is held: its company has not paid the payee before."""

WITHDRAWN: Final = "withdrawn"
"""In the place of a verdict: the person took theirs back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutEvent:
    """
    One event of a payout.

    Attributes:
        attempt: The try it is about, from 1; 0 before the first, while it is held.
        after: The new state; None where the state did not change.
        facts: Only with keys of ``KEPT_FACTS``.
    """

    account_id: str
    reference: str
    attempt: int
    kind: EventKind
    at: datetime
    after: PayoutState | None = None
    facts: Facts = field(default_factory=dict)


def begun(payout: Payout, attempt: Attempt) -> PayoutEvent:
    """Build the event of a stored attempt."""
    return PayoutEvent(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=attempt.number,
        kind=EventKind.STORED,
        at=attempt.started_at,
        after=PayoutState.SENDING,
    )


def held(payout: Payout) -> PayoutEvent:
    """Build the event of a payout that was stored and is held."""
    facts: dict[str, Fact] = {"reason": FIRST_PAYEE}
    if payout.held_until is not None:
        facts["held_until"] = payout.held_until.isoformat()
    return PayoutEvent(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=0,
        kind=EventKind.HELD,
        at=payout.created_at,
        after=PayoutState.HELD,
        facts=facts,
    )


def released(payout: Payout, by: str, at: datetime) -> PayoutEvent:
    """Build the event of a person's word that ends a hold."""
    return PayoutEvent(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=payout.attempt,
        kind=EventKind.RELEASED,
        at=at,
        facts={"by": by},
    )


def stepped(change: Change) -> PayoutEvent:
    """Build the event of a step."""
    return PayoutEvent(
        account_id=change.account_id,
        reference=change.reference,
        attempt=change.attempt,
        kind=change.cause,
        at=change.at,
        after=change.after,
        facts=_facts_of(change),
    )


def probed(
    payout: Payout, found: str, asked_at: datetime, at: datetime, facts: Facts
) -> PayoutEvent:
    """Build the event of a query without effect; ``found`` is our word for its answer."""
    return PayoutEvent(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=payout.attempt,
        kind=EventKind.PROBED,
        at=at,
        facts={"found": found, "asked_at": asked_at.isoformat(), **facts},
    )


def noticed(payout: Payout, callback_id: str, at: datetime) -> PayoutEvent:
    """Build the event of a callback; its unproven claim is not stored."""
    return PayoutEvent(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=payout.attempt,
        kind=EventKind.NOTICED,
        at=at,
        facts={"callback": callback_id},
    )


def judged(opinion: Opinion) -> PayoutEvent:
    """Build the event of a user's opinion; the reason is stored with the opinion."""
    facts: dict[str, Fact] = {"by": opinion.by, "verdict": opinion.verdict.value}
    if opinion.moved is not None:
        facts["moved_centavos"] = opinion.moved.centavos
    return PayoutEvent(
        account_id=opinion.account_id,
        reference=opinion.reference,
        attempt=opinion.attempt or 1,
        kind=EventKind.JUDGED,
        at=opinion.at,
        facts=facts,
    )


def opinion_withdrawn(opinion: Opinion, at: datetime) -> PayoutEvent:
    """Build the event of a withdrawn opinion."""
    facts = {"by": opinion.by, "verdict": WITHDRAWN}
    return replace(judged(opinion), at=at, facts=facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMove:
    """
    A bank's movement of a payout that differs from the order.

    Attributes:
        value: The amount that the bank moved.
        at: Time by the bank's clock; None where unreported.
    """

    value: Money
    at: datetime | None
    provider_id: str
    e2e_id: str


def move_facts(said: Settled, ordered: Money) -> Facts:
    """Return the stored facts of a movement that differs from the order."""
    facts: dict[str, Fact] = {"provider_id": said.provider_id, "e2e_id": said.e2e_id}
    if said.value != ordered:
        facts["moved_centavos"] = said.value.centavos
    if said.settled_at is not None:
        facts["settled_at"] = said.settled_at.isoformat()
    return {name: value for name, value in facts.items() if value}


def shown_move(payout: Payout, events: Sequence[PayoutEvent]) -> ShownMove | None:
    """Return the movement that the latest query showed in contradiction to the order, if any."""
    for each in reversed(events):
        facts = each.facts
        is_other = facts.get("review") is True and facts.get("found") == "settled"
        if each.attempt != payout.attempt or not is_other:
            continue
        at, moved = facts.get("settled_at"), facts.get("moved_centavos")
        return ShownMove(
            value=Money(moved) if isinstance(moved, int) else payout.value,
            at=None if at is None else datetime.fromisoformat(str(at)),
            provider_id=str(facts.get("provider_id", "")),
            e2e_id=str(facts.get("e2e_id", "")),
        )
    return None


def evidence_facts(evidence: Evidence) -> dict[str, Fact]:
    """Return the stored facts of evidence; absent fields are left out."""
    facts: dict[str, Fact] = {
        "phase": evidence.phase.value,
        "bytes_left": evidence.bytes_left,
        "reason": evidence.reason,
    }
    if evidence.http_status is not None:
        facts["http_status"] = evidence.http_status
    if evidence.provider_code:
        facts["provider_code"] = evidence.provider_code
    return facts


def _facts_of(change: Change) -> Facts:
    """Return the stored facts of a step's cause."""
    facts = {} if change.evidence is None else evidence_facts(change.evidence)
    if change.provider_id:
        facts["provider_id"] = change.provider_id
    if change.e2e_id:
        facts["e2e_id"] = change.e2e_id
    if change.failure is not None:
        facts["failure"] = change.failure.code.value
    if change.settled_at is not None:
        facts["settled_at"] = change.settled_at.isoformat()
    if change.moved is not None:
        facts["moved_centavos"] = change.moved.centavos
    if change.held_until is not None:
        facts["held_until"] = change.held_until.isoformat()
    if change.by:
        facts["by"] = change.by
    return facts


_INSTANTS: Final = frozenset({"asked_at", "settled_at", "held_until"})


class EventFactsDocument(TypedDict):
    """
    The facts of an event, as far as kept: never a name, a tax number, a key, or a bank's text.

    ``found`` is the result of a status query, ``callback`` the id of the callback.
    ``moved`` is the amount that the bank moved: where it differs from the order, and in opinions.
    While the payout is in review, nothing is shown of another user's opinion, but that it was
    withdrawn.
    """

    phase: NotRequired[Annotated[str, meaning("How far the call to the bank came.")]]
    bytes_left: NotRequired[fields.BytesLeft]
    reason: NotRequired[fields.Reason]
    http_status: NotRequired[fields.HttpStatus]
    provider_code: NotRequired[fields.ProviderCode]
    found: NotRequired[
        Annotated[
            Literal["not_found", "settled", "accepted", "rejected", "unknown", "no_answer"],
            meaning("What the bank said of the payout."),
        ]
    ]
    asked_at: NotRequired[Instant]
    provider_id: NotRequired[fields.ProviderId]
    e2e_id: NotRequired[fields.E2eId]
    failure: NotRequired[Annotated[str, meaning("Why it failed; only where it has.")]]
    settled_at: NotRequired[Instant]
    held_until: NotRequired[Instant]
    callback: NotRequired[Annotated[str, meaning("The bank's notification that caused it.")]]
    by: NotRequired[fields.SaidBy]
    verdict: NotRequired[
        Annotated[
            Literal["paid", "failed", "withdrawn"], meaning("What was found: `paid` or `failed`.")
        ]
    ]
    review: NotRequired[fields.NeedsReview]
    moved: NotRequired[Sum]


class HappeningDocument(Struct, frozen=True, kw_only=True):
    """
    One event, and the certainty before and after it.

    ``held``, ``released`` and ``refused`` are of a payout to a first payee, before its first
    attempt. ``answered`` is the end of the call that orders it, with an answer or without one.
    ``sent`` is derived from it, at the instant at which its try began. ``state`` is empty where
    nothing moved, and ``certainty_before`` before anything was stored.
    """

    kind: Annotated[
        Literal[
            "held",
            "released",
            "refused",
            "stored",
            "sent",
            "answered",
            "probed",
            "noticed",
            "judged",
            "decided",
            "expired",
        ],
        meaning("Which kind it is."),
    ]
    at: OptionalMoment
    attempt: Annotated[int, meaning("Number of the attempt, from 1; 0 before the first.")]
    state: Annotated[str, Meta(description="The state that it is in.", examples=["unknown"])]
    certainty_before: Annotated[
        str,
        Meta(description="What was certain about the money before it.", examples=["sent_unknown"]),
    ]
    certainty_after: Annotated[
        str, Meta(description="What was certain about the money after it.", examples=["settled"])
    ]
    facts: EventFactsDocument


def is_complete(events: Sequence[PayoutEvent]) -> bool:
    """Return whether the events reach back to the payout's beginning."""
    firsts = {(0, EventKind.HELD), (1, EventKind.STORED)}
    return any((each.attempt, each.kind) in firsts for each in events)


def timeline(
    payout: Payout,
    events: Sequence[PayoutEvent],
    attempts: Sequence[Attempt],
    opinions: Sequence[Opinion],
) -> list[HappeningDocument]:
    """
    Return the timeline, oldest first.

    Steps from before there were events, or whose events are deleted, are shown as far
    as tries and opinions know it.
    """
    older = [event for each in attempts for event in _of_attempt(payout, each, events)]
    known = {each.facts.get("by") for each in events if each.kind is EventKind.JUDGED}
    older += [judged(each) for each in opinions if each.by not in known]
    return list(_timeline(payout, sorted([*older, *events], key=lambda each: each.at)))


def _of_attempt(
    payout: Payout, attempt: Attempt, events: Sequence[PayoutEvent]
) -> Iterator[PayoutEvent]:
    """Build the timeline entries of an attempt that none of its events covers."""
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
    """Build the remaining entry of an older event; an attempt keeps only its latest evidence."""
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


def _timeline(payout: Payout, events: Sequence[PayoutEvent]) -> Iterator[HappeningDocument]:
    """Add the certainty before and after each entry; an attempt that left is shown as sent."""
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
    """Return the stored facts as a document; instants as everywhere."""
    shown: dict[str, object] = dict(found)
    moved = shown.pop("moved_centavos", None)
    if isinstance(moved, int):
        shown["moved"] = Money(moved)
    for name in _INSTANTS & found.keys():
        shown[name] = instant(datetime.fromisoformat(str(found[name])))
    return cast("EventFactsDocument", shown)


def _absence(event: PayoutEvent, payout: Payout) -> Absence | None:
    """
    Return who proved by an event that the bank executed nothing.

    Without stored facts, the payout's own field decides.
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
