"""
What happened to a payout, event by event, with what was said as far as it may be kept.

Events are only ever added. A step, a try and its event are one transaction, so none of them is
there without the other. What happened before there were events is told by attempts alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from gateway.banks.port.providers import Evidence, Settled
from gateway.core.money import Money
from gateway.payouts.model import (
    Attempt,
    Change,
    EventKind,
    Payout,
    PayoutState,
)
from gateway.payouts.opinions import Opinion

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


WITHDRAWN: Final = "withdrawn"
"""In the place of a verdict: the person took theirs back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutEvent:
    """
    One thing that happened.

    Attributes:
        attempt: The try it is about, from 1.
        after: The state it led to; None where it led to none.
        facts: Of ``KEPT_FACTS`` alone.
    """

    account_id: str
    reference: str
    attempt: int
    kind: EventKind
    at: datetime
    after: PayoutState | None = None
    facts: Facts = field(default_factory=dict)


def begun(payout: Payout, attempt: Attempt) -> PayoutEvent:
    """Tell of a try that is stored."""
    return PayoutEvent(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=attempt.number,
        kind=EventKind.STORED,
        at=attempt.started_at,
        after=PayoutState.SENDING,
    )


def stepped(change: Change) -> PayoutEvent:
    """Tell of a step."""
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
    """Tell of a look at the bank that moved nothing; ``found`` is a word of ours for its answer."""
    return PayoutEvent(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=payout.attempt,
        kind=EventKind.PROBED,
        at=at,
        facts={"found": found, "asked_at": asked_at.isoformat(), **facts},
    )


def noticed(payout: Payout, callback_id: str, at: datetime) -> PayoutEvent:
    """Tell of a callback that named the payout; what it claims proves nothing and is not kept."""
    return PayoutEvent(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=payout.attempt,
        kind=EventKind.NOTICED,
        at=at,
        facts={"callback": callback_id},
    )


def judged(opinion: Opinion) -> PayoutEvent:
    """Tell of a person's opinion; the reason stands with the opinion."""
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
    """Tell that a person took an opinion back."""
    facts = {"by": opinion.by, "verdict": WITHDRAWN}
    return replace(judged(opinion), at=at, facts=facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMove:
    """
    A movement of a payout that its bank shows, and that differs from the order.

    Attributes:
        value: What the bank moved.
        at: When, by its own clock; None where it does not tell.
    """

    value: Money
    at: datetime | None
    provider_id: str
    e2e_id: str


def move_facts(said: Settled, ordered: Money) -> Facts:
    """Return what is kept of a movement that differs from the order."""
    facts: dict[str, Fact] = {"provider_id": said.provider_id, "e2e_id": said.e2e_id}
    if said.value != ordered:
        facts["moved_centavos"] = said.value.centavos
    if said.settled_at is not None:
        facts["settled_at"] = said.settled_at.isoformat()
    return {name: value for name, value in facts.items() if value}


def shown_move(payout: Payout, events: Sequence[PayoutEvent]) -> ShownMove | None:
    """Return the movement that the latest look showed in contradiction to the order, if any."""
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
    """Return what is kept of evidence; what the bank has not said is left out."""
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
    """Return what a step keeps of what led to it."""
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
    return facts
