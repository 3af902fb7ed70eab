"""
Reviews: unproven payouts are ended by two users who agree.

Every part may be repeated: an opinion counts once, and the final step is a
compare-and-set.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import combinations
from typing import Final

from gateway.accounts.store import StoredAccounts
from gateway.banks.port.payout_orders import FailureCode
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext, RuleViolation, identifier, name, reason
from gateway.core.company_scope import scope_of
from gateway.core.exports import Exports
from gateway.core.money import Money
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right, rights_of
from gateway.core.structs import struct_of
from gateway.core.user import User, same_name
from gateway.core.windows import Listed, Paging
from gateway.identity.store import StoredUsers
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.events import ShownMove, shown_move
from gateway.payouts.model import (
    Change,
    EventKind,
    Failure,
    Opinion,
    Payout,
    Verdict,
    absent_at,
    may_read,
)
from gateway.payouts.store import StoredPayouts
from gateway.reviews.model import (
    JudgementBody,
    Progress,
    ReviewDocument,
    ReviewState,
    Unresolved,
    UnresolvedPayout,
    WithdrawalBody,
)
from gateway.reviews.store import has_account, in_review, unresolved
from gateway.store.kernel.database import Database

_AGREEING: Final = 2
"""Four eyes: one user alone never ends a payout that no proof can settle."""
_JUDGES: Final = Right(Area.REVIEW, Action.WRITE)
_USER: Final = "user:"
PeopleOf = Callable[[str, str], Awaitable[Collection[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewers:
    """
    Decides whose opinion on a payout counts, by the users' current rights.

    A user of the command line is not in the store, and always may.

    Attributes:
        people_of: Returns the orderer and approvers of a payout.
    """

    users: StoredUsers
    accounts: StoredAccounts
    people_of: PeopleOf

    async def may_judge(self, by: str, payout: Payout) -> bool:
        """Return whether a user may give an opinion on a payout now."""
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
        """Return whether a user ordered or approved a payout, and may not judge it."""
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
class Reviews:
    """
    Payouts with an unproven outcome, and reviews, which two users decide.

    Every method raises ``StoreUnavailable`` as stores do.

    Attributes:
        absent_after: The declaration of each provider's adapter, by the provider's name.
    """

    database: Database
    payouts: StoredPayouts
    follow_ups: StoredFollowUps
    reviewers: Reviewers
    absent_after: Mapping[str, timedelta | None]
    exports: Exports

    @requires(Area.REVIEW, Action.READ)
    async def everything(self, who: Staff) -> Sequence[UnresolvedPayout]:
        """Return the payouts that are unknown or in review, without opinions; for commands."""
        return [
            UnresolvedPayout(
                payout=each,
                account_name="",
                attempts=await self.payouts.attempts(each.account_id, each.reference),
                opinions=(),
            )
            for each in await self.follow_ups.unresolved()
        ]

    @requires(Area.REVIEW, Action.READ)
    async def page(self, who: Staff, paging: Paging) -> Listed[ReviewDocument]:
        """List the payouts whose outcome two users have to find out."""
        found = await in_review(self.database, who.scope, paging)
        items = [struct_of(ReviewDocument, each) for each in found.items]
        return Listed(items=items, paging=paging, total=found.total)

    @requires(Area.REVIEW, Action.READ)
    async def unresolved(self, who: Staff, paging: Paging) -> Listed[Unresolved]:
        """
        List the payouts whose outcome is not proven, with the evidence of each.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        found = await unresolved(self.database, who.scope, paging)
        await self.exports.show(who, len(found.items))
        items = [
            Unresolved(
                found=each,
                review=await self._state(who, each.payout, each.opinions),
                absent_at=absent_at(each.payout, self.absent_after.get(each.payout.provider)),
            )
            for each in found.items
        ]
        return Listed(items=items, paging=paging, total=found.total)

    @requires(Area.REVIEW, Action.READ)
    async def is_own(self, who: Staff, account: Account, reference: str) -> bool:
        """Return whether the caller ordered or approved a payout, and so cannot review it."""
        payout = await self.payouts.find(account.id, reference)
        by = person(who.acting.actor)
        return payout is not None and await self.reviewers.ordered_or_approved(by, payout)

    @requires(Area.REVIEW, Action.WRITE)
    async def judge(self, who: Staff, judgement: JudgementBody) -> ReviewState:
        """
        Say how a payout ended; when two users agree, that becomes the outcome.

        An opinion counts only while its person could give it: who was disabled, or has lost the
        right or the company, has said nothing. Where two others agree by now, because one of them
        may judge again, they end the payout, and this opinion is not needed any more.

        Raises:
            RuleViolation: the payout is not in review or moved meanwhile, the
                reason is empty, this person ordered or approved it or has said otherwise before,
                the amount is neither the ordered nor the bank's amount, or the bank shows
                that it paid a payout judged failed.
        """
        payout = await self._in_review(who, judgement)
        if await self.reviewers.ordered_or_approved(person(who.acting.actor), payout):
            message = "who ordered or approved a payout does not review it: another person does"
            raise RuleViolation(message, "own_payout")
        shown = shown_move(payout, await self.payouts.events(payout.account_id, payout.reference))
        counting = await self._counting(payout, await self._given(payout))
        agreeing = _agreeing(counting, payout, shown)
        if not agreeing:
            given = await self._keep(who.acting, judgement, payout, shown)
            counting = await self._counting(payout, given)
            agreeing = _agreeing(counting, payout, shown)
        if not agreeing:
            return _open(who.acting.actor, payout, counting)
        await self._decide(who.acting, payout, agreeing, shown)
        now = await self.payouts.find(payout.account_id, payout.reference) or payout
        if now.review:  # one of the two took theirs back meanwhile
            return await self._state(who, now, await self._given(now))
        return ReviewState(
            progress=Progress.DECIDED, payout=now, given=len(counting), opinions=counting
        )

    @requires(Area.REVIEW, Action.WRITE)
    async def withdraw(self, who: Staff, wanted: WithdrawalBody) -> ReviewState:
        """
        Withdraw your opinion on how a payout ended, until two users agree.

        It stays on record, and one may give another.

        Raises:
            RuleViolation: the payout is not in review or was decided meanwhile, or this person
                has given no opinion on it.
        """
        payout = await self._in_review(who, wanted)
        given = await self._given(payout)
        own = next((each for each in given if each.by == person(who.acting.actor)), None)
        if own is None:
            message = "you have given no opinion on this payout"
            raise RuleViolation(message, "no_opinion")
        event = who.acting.event("payout.opinion_withdrawn", _subject(payout))
        if not await self.payouts.withdraw_opinion(own, event):
            message = "the payout or its opinions changed meanwhile: look at it again"
            raise RuleViolation(message, "meanwhile")
        return await self._state(who, payout, [each for each in given if each is not own])

    async def _state(self, who: Staff, payout: Payout, opinions: Sequence[Opinion]) -> ReviewState:
        """Return the state of an open review, given its opinions."""
        return _open(who.acting.actor, payout, await self._counting(payout, opinions))

    async def _counting(self, payout: Payout, opinions: Sequence[Opinion]) -> Sequence[Opinion]:
        return [each for each in opinions if await self.reviewers.may_judge(each.by, payout)]

    async def _given(self, payout: Payout) -> Sequence[Opinion]:
        """Return the opinions of the current review, oldest first."""
        given = await self.payouts.opinions(payout.account_id, payout.reference)
        return [each for each in given if each.is_about(payout)]

    async def _in_review(self, who: Staff, named: WithdrawalBody) -> Payout:
        payout, account_id = None, named.account_id
        if who.scope.everything or await has_account(self.database, account_id, who.scope):
            account_id = identifier(account_id, "account")
            payout = await self.payouts.find(account_id, named.reference)
        if payout is None:
            message = f"the account has no payout {named.reference}"
            raise RuleViolation(message, "no_row", field="reference")
        if not payout.review:
            message = f"the payout is not in review: it is {payout.state.value}"
            raise RuleViolation(message, "not_in_review")
        return payout

    async def _keep(
        self,
        acting: AuditContext,
        judgement: JudgementBody,
        payout: Payout,
        shown: ShownMove | None,
    ) -> Sequence[Opinion]:
        """
        Store the opinion, and return those of this review, oldest first.

        Opinions on an earlier attempt or state do not count. A user has one opinion in a review: a
        second one must be equal.
        """
        opinion = Opinion(
            account_id=payout.account_id,
            reference=payout.reference,
            verdict=judgement.verdict,
            moved=_moved(judgement, payout, shown),
            reason=reason(judgement.reason),
            by=person(acting.actor),
            at=acting.now(),
            attempt=payout.attempt,
            state=payout.state,
        )
        details = {"verdict": opinion.verdict.value, "reason": opinion.reason}
        event = acting.event("payout.judged", _subject(payout), details)
        given = await self.payouts.add_opinion(opinion, event)
        opinions = [each for each in given if each.is_about(payout)]
        own = next(each for each in opinions if each.by == opinion.by)
        if not own.agrees(opinion, payout):
            message = f"{own.by} has said {own.verdict.value} before: withdraw that opinion first"
            raise RuleViolation(message, "own_opinion")
        return opinions

    async def _decide(
        self, acting: AuditContext, payout: Payout, by: Sequence[Opinion], shown: ShownMove | None
    ) -> None:
        """
        Take the final step, if the payout is still in the judged state.

        It was paid at the bank's own instant, where the bank shows the movement that was judged. If
        another decision was faster, nothing happens.
        """
        now, verdict = acting.now(), by[0].verdict
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
        event = acting.event("payout.decided", _subject(payout), details)
        await self.payouts.decide(change, by, event)


def _open(actor: str, payout: Payout, counting: Sequence[Opinion]) -> ReviewState:
    pairs = list(combinations(counting, _AGREEING))
    differ = pairs and not any(one.agrees(other, payout) for one, other in pairs)
    return ReviewState(
        progress=Progress.DISAGREED if differ else Progress.WAITING,
        payout=payout,
        given=len(counting),
        opinions=[each for each in counting if may_read(actor, each.by, payout)],
    )


def _agreeing(
    counting: Sequence[Opinion], payout: Payout, shown: ShownMove | None
) -> Sequence[Opinion]:
    """Return equal opinions that end a payout; none where they contradict the bank's movement."""
    for each in counting:
        equal = [other for other in counting if other.agrees(each, payout)]
        denied = each.verdict is Verdict.FAILED and shown is not None
        if len(equal) >= _AGREEING and not denied:
            return equal
    return []


def _moved(judgement: JudgementBody, payout: Payout, shown: ShownMove | None) -> Money | None:
    """
    Return the amount that an opinion says was moved; None for nothing.

    Raises:
        RuleViolation: it claims that no money moved, and the bank shows that it did; or it is an
            amount that nothing speaks for. Where the bank shows none, the person may have found
            any.
    """
    if judgement.verdict is Verdict.FAILED and shown is not None:
        message = "the bank shows that it paid: the payout did not fail"
        raise RuleViolation(message, "bank_shows_paid", field="verdict")
    is_paid, said = judgement.verdict is Verdict.PAID, judgement.value or payout.value
    if not is_paid:
        fits = said == payout.value
    elif shown is None:
        fits = said.centavos > 0
    else:
        fits = said == shown.value or judgement.value == payout.value
    if not fits:
        message = "the amount is neither the one ordered nor what the bank shows"
        raise RuleViolation(message, "other_amount", field="value")
    return said if is_paid else None


def person(text: str) -> str:
    """
    Normalise a user's name in spaces and case.

    Raises:
        RuleViolation: when it is empty, over 200 characters or holds a control character.
    """
    return same_name(name(text))


def _subject(payout: Payout) -> str:
    """Return a payout's name in the audit log: its key at the bank, which is no personal data."""
    return f"payout:{payout.provider_key}"
