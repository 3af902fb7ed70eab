"""
Reviews: what no proof can settle is ended by two people who agree.

Every part may be repeated: an opinion counts once, and the final step is a
compare-and-set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.payouts.followups import FollowUps
from gateway.domain.payouts.payouts import Change, EventKind, Failure, Payout, Payouts
from gateway.domain.payouts.reviews import Opinion, Reviews, Verdict
from gateway.operations.kernel.audit_context import (
    AuditContext,
    RuleViolation,
    identifier,
    name,
    reason,
)

# Four eyes: one user alone never ends a payout that no proof can settle.
_AGREEING = 2


class Progress(StrEnum):
    """What an opinion led to."""

    WAITING = "waiting"
    DISAGREED = "disagreed"
    DECIDED = "decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What somebody found out: how the payout ended, and how they know."""

    account_id: str
    reference: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The payout after an opinion, the opinions of this review, and what came of it."""

    progress: Progress
    payout: Payout
    opinions: Sequence[Opinion]


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutReviews:
    """Where payouts in review are decided; the actor is the person who judges."""

    payouts: Payouts
    follow_ups: FollowUps
    reviews: Reviews
    acting: AuditContext

    async def waiting(self) -> Sequence[Payout]:
        """Return the payouts that wait for a person, oldest first."""
        return [payout for payout in await self.follow_ups.unresolved() if payout.review]

    async def resolve(self, judgement: Judgement) -> Resolution:
        """
        Keep one person's opinion; with another person's equal one, end the payout.

        Raises:
            RuleViolation: the payout is not in review or moved meanwhile, the
                reason is empty, or this person has said otherwise before.
        """
        payout = await self._in_review(judgement)
        opinions = await self._keep(judgement, payout)
        agreeing = [each for each in opinions if each.verdict is judgement.verdict]
        if len(agreeing) < _AGREEING:
            progress = Progress.WAITING if len(opinions) == 1 else Progress.DISAGREED
            return Resolution(progress=progress, payout=payout, opinions=opinions)
        await self._decide(payout, judgement.verdict, agreeing)
        ended = await self.payouts.find(payout.account_id, payout.reference)
        return Resolution(progress=Progress.DECIDED, payout=ended or payout, opinions=opinions)

    async def _in_review(self, judgement: Judgement) -> Payout:
        account_id = identifier(judgement.account_id, "account")
        payout = await self.payouts.find(account_id, judgement.reference)
        if payout is None:
            message = f"the account has no payout {judgement.reference}"
            raise RuleViolation(message, "no_row", field="reference")
        if not payout.review:
            message = f"the payout is not in review: it is {payout.state.value}"
            raise RuleViolation(message, "not_in_review")
        return payout

    async def _keep(self, judgement: Judgement, payout: Payout) -> Sequence[Opinion]:
        """
        Store the opinion, and return those of this review, oldest first.

        What was said of an earlier attempt or state is no opinion on this one. In one review a
        person has one opinion: a second one must be the same.
        """
        opinion = Opinion(
            account_id=payout.account_id,
            reference=payout.reference,
            verdict=judgement.verdict,
            reason=reason(judgement.reason),
            by=person(self.acting.actor),
            at=self.acting.now(),
            attempt=payout.attempt,
            state=payout.state,
        )
        details = {"verdict": opinion.verdict.value, "reason": opinion.reason}
        event = self.acting.event("payout.judged", _subject(payout), details)
        given = await self.reviews.add(opinion, event)
        opinions = [each for each in given if each.is_about(payout)]
        own = next(each for each in opinions if each.by == opinion.by)
        if own.verdict is not opinion.verdict:
            message = f"{own.by} has said {own.verdict.value} before: another person decides"
            raise RuleViolation(message, "own_opinion")
        return opinions

    async def _decide(self, payout: Payout, verdict: Verdict, by: Sequence[Opinion]) -> None:
        """Do the final step, if the payout still stands where it was judged."""
        now = self.acting.now()
        failure = Failure(FailureCode.OTHER) if verdict is Verdict.FAILED else None
        change = Change(
            account_id=payout.account_id,
            reference=payout.reference,
            attempt=payout.attempt,
            before=frozenset({payout.state}),
            after=verdict.state,
            at=now,
            failure=failure,
            settled_at=now if verdict is Verdict.PAID else None,
            cause=EventKind.DECIDED,
        )
        details = {"verdict": verdict.value, "by": ", ".join(each.by for each in by)}
        event = self.acting.event("payout.decided", _subject(payout), details)
        if not await self.reviews.decide(change, event):
            message = "the payout moved meanwhile: look at it again"
            raise RuleViolation(message, "meanwhile")


def person(text: str) -> str:
    """
    Name a person the same however the name is spaced and capitalised.

    Raises:
        RuleViolation: when it is empty, over 200 characters or holds a control character.
    """
    return " ".join(name(text).casefold().split())


def _subject(payout: Payout) -> str:
    """Name a payout for the audit log: its key at the bank says nothing about anybody."""
    return f"payout:{payout.provider_key}"
