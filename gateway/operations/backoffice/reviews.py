"""
Reviews: what no proof can settle is ended by two people who agree.

Every part may be repeated: an opinion counts once, and the final step is a
compare-and-set.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import Final

from gateway.domain.accounts.accounts import Accounts
from gateway.domain.accounts.credentials import Action
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.identity.rights import Area, Right, rights_of
from gateway.domain.identity.users import User, Users
from gateway.domain.kernel.company_scope import scope_of
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.events import PayoutEvents, ShownMove, shown_move
from gateway.domain.payouts.followups import FollowUps
from gateway.domain.payouts.payouts import Change, EventKind, Failure, Payout, Payouts
from gateway.domain.payouts.reviews import Opinion, Reviews, Verdict, may_read, same_name
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
    """
    How a review stands.

    WAITING: an equal opinion of another person is missing.
    DISAGREED: two opinions differ: a third person decides, or one of the two withdraws theirs.
    """

    WAITING = "waiting"
    DISAGREED = "disagreed"
    DECIDED = "decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """
    What somebody found out: how the payout ended, and how they know.

    Attributes:
        moved: What the bank moved, where it paid; None for the amount ordered, which is not
            taken where the bank shows another one.
    """

    account_id: str
    reference: str
    verdict: Verdict
    reason: str
    moved: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewState:
    """
    A payout, and its review as one person is shown it.

    Attributes:
        given: How many opinions count.
        opinions: Those that this person reads: until it is decided, only their own.
    """

    progress: Progress
    payout: Payout
    given: int
    opinions: Sequence[Opinion]


_JUDGES: Final = Right(Area.REVIEW, Action.WRITE)
_USER: Final = "user:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewers:
    """
    Says whose opinion on a payout counts, by what people are now.

    Whoever works on the command line is nobody that the store knows: they always may.

    Attributes:
        people_of: Returns who ordered and who approved the payout of an account and reference.
    """

    users: Users
    accounts: Accounts
    people_of: Callable[[str, str], Awaitable[frozenset[str]]]

    async def may_judge(self, by: str, payout: Payout) -> bool:
        """Say whether a person could give an opinion on a payout at this moment."""
        if not by.startswith(_USER):
            return True
        user = await self._user(by)
        if user is None or not user.active:
            return False
        if not any(right.covers(_JUDGES) for right in rights_of(user.roles)):
            return False
        account = await self.accounts.find(payout.account_id)
        return account is not None and scope_of(user.companies).includes(account.company_id)

    async def ordered_or_approved(self, by: str, payout: Payout) -> bool:
        """Say whether a person ordered a payout, or approved it: they do not judge it as well."""
        user = await self._user(by)
        if user is None:
            return False
        orderer = payout.client_id.removeprefix(_USER)
        people = await self.people_of(payout.account_id, payout.reference)
        return user.id in {orderer, *people}

    async def _user(self, by: str) -> User | None:
        email = by.removeprefix(_USER)
        return None if email == by else await self.users.find_by_email(email)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutReviews:
    """Where payouts in review are decided; the actor is the person who judges."""

    payouts: Payouts
    follow_ups: FollowUps
    reviews: Reviews
    events: PayoutEvents
    reviewers: Reviewers
    acting: AuditContext

    async def waiting(self) -> Sequence[Payout]:
        """Return the payouts that wait for a person, oldest first."""
        return [payout for payout in await self.follow_ups.unresolved() if payout.review]

    async def resolve(self, judgement: Judgement) -> ReviewState:
        """
        Keep one person's opinion; with another person's equal one, end the payout.

        An opinion counts only while its person could give it: who was disabled, or has lost the
        right or the company, has said nothing. Where two others agree by now, because one of them
        may judge again, they end the payout, and this opinion is not needed any more.

        Raises:
            RuleViolation: the payout is not in review or moved meanwhile, the
                reason is empty, this person ordered or approved it or has said otherwise before,
                the amount is neither the one ordered nor what the bank shows, or the bank shows
                that it paid what is called failed.
        """
        payout = await self._in_review(judgement.account_id, judgement.reference)
        if await self.reviewers.ordered_or_approved(person(self.acting.actor), payout):
            message = "who ordered or approved a payout does not review it: another person does"
            raise RuleViolation(message, "own_payout")
        shown = shown_move(payout, await self.events.of(payout.account_id, payout.reference))
        counting = await self._counting(payout, await self._given(payout))
        agreeing = _agreeing(counting, payout, shown)
        if not agreeing:
            counting = await self._counting(payout, await self._keep(judgement, payout, shown))
            agreeing = _agreeing(counting, payout, shown)
        if not agreeing:
            return self._open(payout, counting)
        await self._decide(payout, agreeing, shown)
        now = await self.payouts.find(payout.account_id, payout.reference) or payout
        if now.review:  # one of the two took theirs back meanwhile
            return await self.state(now, await self._given(now))
        return ReviewState(
            progress=Progress.DECIDED, payout=now, given=len(counting), opinions=counting
        )

    async def withdraw(self, account_id: str, reference: str) -> ReviewState:
        """
        Take back one's own opinion; it stays on record, and one may give another.

        Raises:
            RuleViolation: the payout is not in review or was decided meanwhile, or this person
                has given no opinion on it.
        """
        payout = await self._in_review(account_id, reference)
        given = await self._given(payout)
        own = next((each for each in given if each.by == person(self.acting.actor)), None)
        if own is None:
            message = "you have given no opinion on this payout"
            raise RuleViolation(message, "no_opinion")
        event = self.acting.event("payout.opinion_withdrawn", _subject(payout))
        if not await self.reviews.withdraw(own, event):
            message = "the payout or its opinions changed meanwhile: look at it again"
            raise RuleViolation(message, "meanwhile")
        return await self.state(payout, [each for each in given if each is not own])

    async def state(self, payout: Payout, opinions: Sequence[Opinion]) -> ReviewState:
        """Return how an open review stands, given its opinions."""
        return self._open(payout, await self._counting(payout, opinions))

    def _open(self, payout: Payout, counting: Sequence[Opinion]) -> ReviewState:
        pairs = list(combinations(counting, _AGREEING))
        differ = pairs and not any(one.agrees(other, payout) for one, other in pairs)
        return ReviewState(
            progress=Progress.DISAGREED if differ else Progress.WAITING,
            payout=payout,
            given=len(counting),
            opinions=[each for each in counting if may_read(self.acting.actor, each.by, payout)],
        )

    async def _counting(self, payout: Payout, opinions: Sequence[Opinion]) -> Sequence[Opinion]:
        """Return the opinions whose person could give them now."""
        return [each for each in opinions if await self.reviewers.may_judge(each.by, payout)]

    async def _given(self, payout: Payout) -> Sequence[Opinion]:
        """Return the opinions of the review as it stands, oldest first."""
        given = await self.reviews.of(payout.account_id, payout.reference)
        return [each for each in given if each.is_about(payout)]

    async def _in_review(self, account_id: str, reference: str) -> Payout:
        payout = await self.payouts.find(identifier(account_id, "account"), reference)
        if payout is None:
            message = f"the account has no payout {reference}"
            raise RuleViolation(message, "no_row", field="reference")
        if not payout.review:
            message = f"the payout is not in review: it is {payout.state.value}"
            raise RuleViolation(message, "not_in_review")
        return payout

    async def _keep(
        self, judgement: Judgement, payout: Payout, shown: ShownMove | None
    ) -> Sequence[Opinion]:
        """
        Store the opinion, and return those of this review, oldest first.

        What was said of an earlier attempt or state is no opinion on this one. In one review a
        person has one opinion: a second one must be the same.
        """
        opinion = Opinion(
            account_id=payout.account_id,
            reference=payout.reference,
            verdict=judgement.verdict,
            moved=_moved(judgement, payout, shown),
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
        if not own.agrees(opinion, payout):
            message = f"{own.by} has said {own.verdict.value} before: withdraw that opinion first"
            raise RuleViolation(message, "own_opinion")
        return opinions

    async def _decide(self, payout: Payout, by: Sequence[Opinion], shown: ShownMove | None) -> None:
        """
        Do the final step, if the payout still stands where it was judged.

        It was paid at the bank's own instant, where the bank shows the movement that was judged.
        Where somebody was quicker nothing happens: the payout says what came of it.
        """
        now, verdict = self.acting.now(), by[0].verdict
        failure = Failure(FailureCode.OTHER) if verdict is Verdict.FAILED else None
        moved = by[0].moved or payout.value
        seen = shown if shown is not None and shown.value == moved else None
        change = Change(
            account_id=payout.account_id,
            reference=payout.reference,
            attempt=payout.attempt,
            before=frozenset({payout.state}),
            after=verdict.state,
            at=now,
            failure=failure,
            cause=EventKind.DECIDED,
        )
        if verdict is Verdict.PAID:
            change = replace(
                change,
                settled_at=(seen.at if seen else None) or now,
                moved=None if moved == payout.value else moved,
                provider_id=seen.provider_id if seen else "",
                e2e_id=seen.e2e_id if seen else "",
            )
        details = {"verdict": verdict.value, "by": ", ".join(each.by for each in by)}
        if change.moved is not None:
            details["moved"] = str(change.moved)
        event = self.acting.event("payout.decided", _subject(payout), details)
        await self.reviews.decide(change, by, event)


def _agreeing(
    counting: Sequence[Opinion], payout: Payout, shown: ShownMove | None
) -> Sequence[Opinion]:
    """Return equal opinions that end a payout; none where they contradict what the bank shows."""
    for each in counting:
        equal = [other for other in counting if other.agrees(each, payout)]
        denied = each.verdict is Verdict.FAILED and shown is not None
        if len(equal) >= _AGREEING and not denied:
            return equal
    return []


def _moved(judgement: Judgement, payout: Payout, shown: ShownMove | None) -> Money | None:
    """
    Return what an opinion says that the bank moved; None where it says that nothing moved.

    Raises:
        RuleViolation: it says that nothing moved, and the bank shows what did; or it is an amount
            that nothing speaks for. Where the bank shows none, the person may have found any.
    """
    if judgement.verdict is Verdict.FAILED and shown is not None:
        message = "the bank shows that it paid: the payout did not fail"
        raise RuleViolation(message, "bank_shows_paid", field="verdict")
    is_paid, said = judgement.verdict is Verdict.PAID, judgement.moved or payout.value
    if not is_paid:
        fits = said == payout.value
    elif shown is None:
        fits = said.centavos > 0
    else:
        fits = said == shown.value or judgement.moved == payout.value
    if not fits:
        message = "the amount is neither the one ordered nor what the bank shows"
        raise RuleViolation(message, "other_amount", field="value")
    return said if is_paid else None


def person(text: str) -> str:
    """
    Name a person the same however the name is spaced and capitalised.

    Raises:
        RuleViolation: when it is empty, over 200 characters or holds a control character.
    """
    return same_name(name(text))


def _subject(payout: Payout) -> str:
    """Name a payout for the audit log: its key at the bank says nothing about anybody."""
    return f"payout:{payout.provider_key}"
