"""Payouts as operators see them: everything that is known, and lists by status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from typing import Final

from gateway.domain.accounts.accounts import Account
from gateway.domain.bank.providers import PixReturn
from gateway.domain.kernel.errors import PAYOUT_NOT_FOUND, ServiceError
from gateway.domain.kernel.windows import LARGEST_LIMIT, Paging, Search, Window
from gateway.domain.payouts.events import (
    WITHDRAWN,
    PayoutEvent,
    PayoutEvents,
    ShownMove,
    shown_move,
)
from gateway.domain.payouts.followups import FollowUps
from gateway.domain.payouts.payouts import Attempt, EventKind, Payout, Payouts, PayoutState
from gateway.domain.payouts.payouts import Payouts as PayoutStore
from gateway.domain.payouts.returns import Returns
from gateway.domain.payouts.reviews import Opinion, Reviews, may_read
from gateway.domain.payouts.status import Certainty, PayoutSearch, certainty_of, states_of
from gateway.domain.requests.calls import Caller
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation, identifier
from gateway.operations.payouts.payouts import PayoutPage
from gateway.operations.payouts.payouts import Payouts as PayoutOperations
from gateway.operations.payouts.timeline import Happening, is_complete, timeline

SIMILAR_MOST: Final = 20
"""Shown beside a payout: a partner may pay the same to the same recipient all day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A payout with its tries, oldest first, and how sure we are of it."""

    payout: Payout
    attempts: Sequence[Attempt]

    @property
    def certainty(self) -> Certainty:
        """The word for it."""
        return certainty_of(self.payout)

    @property
    def latest(self) -> Attempt | None:
        """The latest try; a payout always has one."""
        return self.attempts[-1] if self.attempts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """
    Everything about one payout.

    Attributes:
        returns: What came back of it, oldest first.
        similar: Others of the same amount and recipient, created shortly
            before or after under another reference; ``SIMILAR_MOST`` at most.
        timeline: What happened to it, oldest first.
        shown: The movement that the bank shows in contradiction to the order; None for none.
    """

    case: Case
    similar: Sequence[Payout]
    opinions: Sequence[Opinion]
    returns: Sequence[PixReturn]
    timeline: Sequence[Happening] = ()
    shown: ShownMove | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutRecords:
    """
    Reads payouts for operators.

    Attributes:
        similar_within: How far apart two payouts are still told as similar.
    """

    payouts: Payouts
    follow_ups: FollowUps
    reviews: Reviews
    returns: Returns
    events: PayoutEvents
    similar_within: timedelta

    async def list(
        self, account_id: str, window: Window, state: PayoutState | None = None
    ) -> Sequence[Payout]:
        """Return an account's payouts of a window, newest created first."""
        found = await payouts_of(self.payouts, identifier(account_id, "account"), window)
        return [payout for payout in found if state in {None, payout.state}]

    async def find(self, account_id: str, reference: str) -> Payout:
        """
        Return one.

        Raises:
            RuleViolation: the account has none of this reference.
        """
        payout = await self.payouts.find(identifier(account_id, "account"), reference)
        if payout is None:
            message = f"the account has no payout {reference}"
            raise RuleViolation(message)
        return payout

    async def show(self, acting: AuditContext, account_id: str, reference: str) -> Dossier:
        """Return everything about one that a person may read; raises as ``find`` does."""
        return await self._dossier(acting.actor, await self.find(account_id, reference))

    async def read(self, acting: AuditContext, account: Account, reference: str) -> Dossier:
        """
        Return everything about a payout that a person may read, from the store alone.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) when there is none.
            StoreUnavailable: as stores do.
        """
        payout = await self.payouts.find(account.id, reference)
        if payout is None:
            raise ServiceError(PAYOUT_NOT_FOUND, "no_row")
        return await self._dossier(acting.actor, payout)

    async def _dossier(self, person: str, payout: Payout) -> Dossier:
        key = payout.account_id, payout.reference
        case, events = await self._case(payout), await self.events.of(*key)
        given = await self._opinions(payout, events)
        opinions = [each for each in given if may_read(person, each.by, payout)]
        events = [_readable(person, each, payout) for each in events]
        is_paid = payout.state is PayoutState.PAID
        return Dossier(
            case=case,
            similar=await self.payouts.similar_around(payout, self.similar_within, SIMILAR_MOST),
            opinions=opinions,
            returns=await self.returns.of(*key) if is_paid else [],
            timeline=timeline(payout, events, case.attempts, opinions),
            shown=shown_move(payout, events),
        )

    async def _opinions(self, payout: Payout, events: Sequence[PayoutEvent]) -> Sequence[Opinion]:
        """Return opinions; where every event is known and none is one, nobody need be asked."""
        judged = any(each.kind is EventKind.JUDGED for each in events)
        if is_complete(events) and not judged:
            return []
        return await self.reviews.of(payout.account_id, payout.reference)

    async def unresolved(self) -> Sequence[Case]:
        """Return payouts that are unknown or in review, oldest first."""
        return [await self._case(payout) for payout in await self.follow_ups.unresolved()]

    async def _case(self, payout: Payout) -> Case:
        attempts = await self.payouts.attempts(payout.account_id, payout.reference)
        return Case(payout=payout, attempts=attempts)


def _readable(person: str, event: PayoutEvent, payout: Payout) -> PayoutEvent:
    """Return an event as a person may read it: another's opinion without name and content."""
    facts = event.facts
    if event.kind is not EventKind.JUDGED or may_read(person, str(facts.get("by", "")), payout):
        return event
    is_withdrawn = facts.get("verdict") == WITHDRAWN
    return replace(event, facts={"verdict": WITHDRAWN} if is_withdrawn else {})


async def payouts_of(store: Payouts, account_id: str, window: Window) -> list[Payout]:
    """
    Return every payout an account created in a window, newest first.

    One that is made meanwhile moves others to a later page: they are told once.
    """
    found: dict[str, Payout] = {}
    for number in count(1):
        search = Search(window, Paging(number, LARGEST_LIMIT))
        page, _ = await store.whole(account_id, search)
        found |= {payout.reference: payout for payout in page}
        if len(page) < LARGEST_LIMIT:
            break
    return list(found.values())


@dataclass(frozen=True, slots=True)
class PayoutLists:
    """Searches the payouts of an account (contract 4.3)."""

    store: PayoutStore

    async def search(self, caller: Caller, wanted: PayoutSearch) -> PayoutPage:
        """
        Return a page of payouts, newest created first.

        Raises:
            StoreUnavailable: as stores do.
        """
        states = () if wanted.status is None else states_of(wanted.status)
        found, total = await self.store.search(caller.account.id, wanted.search, states)
        return PayoutPage(payouts=found, paging=wanted.search.paging, total=total)


@dataclass(frozen=True, slots=True)
class PayoutWithReturns:
    """A payout, and what came back of it since it was paid, oldest first."""

    payout: Payout
    returns: Sequence[PixReturn]


@dataclass(frozen=True, slots=True)
class PayoutReads:
    """Reads payouts for users, with what only they are shown (contract 4.3)."""

    payouts: PayoutOperations
    returns: Returns

    async def read(self, caller: Caller, reference: str) -> PayoutWithReturns:
        """
        Return a payout as partners read it, and its returns.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) when there is none.
            StoreUnavailable: as stores do.
        """
        payout = await self.payouts.read(caller, reference)
        is_paid = payout.state is PayoutState.PAID
        found = await self.returns.of(payout.account_id, reference) if is_paid else ()
        return PayoutWithReturns(payout, found)
