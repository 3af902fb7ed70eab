"""
The reconciler: queries banks about unsettled payouts, and ends holds whose time is over.

Following up never sends. Only a held payout is sent, once, by the task that ends its hold.

It runs in every worker. Claims divide the work, and the compare-and-set of every step makes
concurrent queries harmless, so there is no leader.

A turn claims payouts for each bank up to its capacity, and claims more as soon as half of them are
checked. So a backlog is processed without a pause, and a bank that hangs blocks only its own
capacity.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from gateway.banks.followup_rate import SLOWEST, FollowupRate, FollowupSlots
from gateway.core import trace
from gateway.core.account import Account
from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.events import PayoutEvent
from gateway.payouts.followup import UNSETTLED, FollowUp, Hear, ignore
from gateway.payouts.matching import Asking
from gateway.payouts.model import FINAL_STATES, Payout, PayoutState
from gateway.payouts.schedule import (
    CLAIM,
    CORRECTED,
    MOST_ACCOUNTS,
    PROBE_EVERY,
    Checked,
    DueAccount,
    DueClaim,
    ProbeClaim,
    next_check,
)
from gateway.process.periodic_task import PeriodicTask, Schedule
from gateway.telemetry.records import Unsettled

Holder = tuple[str, str]
"""A provider and an account."""
Seen = TypeVar("Seen")
_log = logging.getLogger(__name__)
# As far ahead as looks are planned while somebody may still wait for them.
_PLANNED = timedelta(minutes=15)
# Longer than for a caller's read: here nobody waits for the answer.
_LOOK_S = 8.0
# A search that waits for its turns ends so long after its claim: what was found is noted in time.
_SEARCHED_S = 50.0
# One number for each account; above this bound the oldest go, and are served as new ones.
_KEPT: Final = 10_000
# By one statement, when everything is claimed: its transaction stays short.
_EVERYTHING: Final = 50


@dataclass(frozen=True, slots=True)
class Lease:
    """The instants of a claim: due by ``at``, claimed until ``until``."""

    at: datetime
    until: datetime


@dataclass(slots=True)
class DueClaims:
    """
    The claims of one process.

    Attributes:
        rate: Returns a bank's rate limit by its provider's name.
    """

    due: StoredFollowUps
    owner: str
    rate: Callable[[str], FollowupRate]
    _held: Counter[str] = field(default_factory=Counter)
    _of_account: Counter[Holder] = field(default_factory=Counter)
    _crowded: set[str] = field(default_factory=set)
    _served: OrderedDict[Holder, int] = field(default_factory=OrderedDict)
    _turn: int = 0

    @property
    def holds_any(self) -> bool:
        """Whether any claimed payout is unreleased."""
        return self._held.total() > 0

    @property
    def can_go_on(self) -> bool:
        """Whether a bank with further due payouts has half of its capacity free."""
        return any(self._held[each] * 2 <= self.rate(each).room for each in self._crowded)

    def forget(self) -> None:
        """Reset: cancelled queries released nothing."""
        for each in (self._held, self._of_account, self._crowded):
            each.clear()

    async def share(self, lease: Lease) -> Sequence[Payout]:
        """Claim payouts for each bank up to its capacity."""
        self._turn += 1
        self._crowded.clear()
        claimed: list[Payout] = []
        for accounts in _by_bank(await self.due.due(lease.at)):
            claimed += await self._share_of_bank(accounts, lease)
        return claimed

    async def everything(self, lease: Lease) -> Sequence[Payout]:
        """Claim all due payouts, without regard to capacity."""
        claimed: list[Payout] = []
        while True:
            before = len(claimed)
            for accounts in _by_bank(await self.due.due(lease.at)):
                wanted = self._wanted(accounts[:MOST_ACCOUNTS], lease, _EVERYTHING, _EVERYTHING)
                claimed += await self._claim(wanted)
            # What is due and cannot be had is being claimed by somebody else.
            if len(claimed) == before:
                return claimed

    def let_go(self, payout: Payout) -> None:
        """Release the capacity of a payout."""
        holder = payout.provider, payout.account_id
        self._held[payout.provider] -= 1
        self._of_account[holder] -= 1
        if not self._of_account[holder]:
            del self._of_account[holder]

    async def _share_of_bank(
        self, accounts: Sequence[DueAccount], lease: Lease
    ) -> Sequence[Payout]:
        """Claim for one bank; record whether further payouts are due."""
        provider = accounts[0].provider
        rate = self.rate(provider)
        room = rate.room - self._held[provider]
        if room <= 0:
            self._crowded.add(provider)
            return []
        ready = [each for each in accounts if self._account_room(rate, each) > 0]
        chosen = sorted(ready, key=self._waits)[:MOST_ACCOUNTS]
        if not chosen:
            return []
        part = -(-room // len(chosen))
        own = min(self._account_room(rate, each) for each in chosen)
        claimed = await self._claim(self._wanted(chosen, lease, min(part, own), room))
        largest = max(Counter(each.account_id for each in claimed).values(), default=0)
        if claimed and (len(chosen) < len(ready) or len(claimed) == room or largest == part):
            self._crowded.add(provider)
        return claimed

    def _account_room(self, rate: FollowupRate, account: DueAccount) -> int:
        return rate.account_room - self._of_account[account.provider, account.account_id]

    def _waits(self, account: DueAccount) -> tuple[int, datetime]:
        """Sort accounts: least recently served first, then longest due first."""
        return self._served.get((account.provider, account.account_id), 0), account.due_at

    def _wanted(
        self, accounts: Sequence[DueAccount], lease: Lease, each: int, most: int
    ) -> DueClaim:
        for account in accounts:
            holder = account.provider, account.account_id
            self._served[holder] = self._turn
            self._served.move_to_end(holder)
        while len(self._served) > _KEPT:
            self._served.popitem(last=False)
        return DueClaim(
            provider=accounts[0].provider,
            owner=self.owner,
            at=lease.at,
            until=lease.until,
            account_ids=[account.account_id for account in accounts],
            each=each,
            most=most,
        )

    async def _claim(self, wanted: DueClaim) -> Sequence[Payout]:
        claimed = await self.due.claim_due(wanted)
        for each in claimed:
            self._held[each.provider] += 1
            self._of_account[each.provider, each.account_id] += 1
        return claimed


def by_account(payouts: Iterable[Payout]) -> Sequence[Sequence[Payout]]:
    """Group payouts by bank and account, in order."""
    groups: dict[Holder, list[Payout]] = {}
    for each in payouts:
        groups.setdefault((each.provider, each.account_id), []).append(each)
    return list(groups.values())


def _by_bank(accounts: Iterable[DueAccount]) -> Sequence[Sequence[DueAccount]]:
    groups: dict[str, list[DueAccount]] = {}
    for each in accounts:
        groups.setdefault(each.provider, []).append(each)
    return list(groups.values())


def slowest(_provider: str) -> FollowupRate:
    """Return the slowest rate limit, for unknown banks."""
    return SLOWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """
    Settings and dependencies of the reconciler.

    Attributes:
        find_account: Returns an account by its id, from the store or the process's cache.
        now: The clock by which payouts are due.
        owner: The process's name in its claims.
        chance: Numbers from 0 up to 1; spreads the hourly checks.
        rate: Returns a bank's rate limit by its provider's name.
        may_claim: Whether this process may claim payouts now.
        pause_s: Seconds between two turns, and between two reads of the store in one turn.
        tell: Called with the payouts' states after every turn.
        end_hold: Sends a held payout whose time is over; without it, held payouts stay held.
    """

    due: StoredFollowUps
    find_account: Callable[[str], Awaitable[Account | None]]
    follow_up: FollowUp
    now: Now
    owner: str
    chance: Callable[[], float]
    tell: Callable[[list[Unsettled], datetime], None]
    rate: Callable[[str], FollowupRate] = slowest
    may_claim: Callable[[], bool] = lambda: True
    pause_s: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    end_hold: Callable[[Payout], Awaitable[Payout]] | None = None


@dataclass(frozen=True, slots=True)
class _Checked:
    """A claimed payout, its state after the query, and the bank's answer."""

    claimed: Payout
    seen: Payout
    heard: Sequence[PayoutEvent]


class Reconciler:
    """
    Follows up unsettled payouts.

    Attributes:
        task: Follows up in the background. When it stops, a query under way is
            cancelled; its claim expires.
    """

    def __init__(self, work: Work) -> None:
        """Start nothing yet."""
        self._work = work
        self.task = PeriodicTask(
            "unsettled payouts", self.run_once, Schedule(every_s=work.pause_s), sleep=work.sleep
        )
        self._places: dict[str, FollowupSlots] = {}
        self._claims = DueClaims(work.due, work.owner, lambda name: self._places_of(name).rate)
        self._checked = asyncio.Event()
        self._turned_at: datetime | None = None
        self._has_recalled = False

    async def run_once(self) -> int:
        """
        Check everything that is due, until nothing is; return the number of checks.

        Raises:
            StoreUnavailable: the store does not answer; in an ``ExceptionGroup``
                when it was lost between two checks.
        """
        try:
            checks = await self._check_all()
        except Exception:
            # Failing checks must be seen in the metrics, which therefore go on.
            with suppress(StoreUnavailable):
                await self._report_states()
            raise
        await self._report_states()
        return checks

    async def _check_all(self) -> int:
        """Claim and check until nothing is due; report the payouts' states now and then."""
        self._claims.forget()
        checks, reported_at = 0, asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as tasks:
            while True:
                claimed = await self._claim()
                checks += len(claimed)
                for payouts in by_account(claimed):
                    tasks.create_task(self._follow(payouts))
                if not await self._is_under_way():
                    break
                if asyncio.get_running_loop().time() - reported_at >= self._work.pause_s:
                    reported_at = asyncio.get_running_loop().time()
                    await self._report_states()
        return checks

    async def _is_under_way(self) -> bool:
        """Wait until there may be more to claim; False when nothing is left."""
        try:
            async with asyncio.timeout(self._work.pause_s):
                while self._claims.holds_any and not self._claims.can_go_on:
                    self._checked.clear()
                    await self._checked.wait()
        except TimeoutError:
            return True
        return self._claims.can_go_on

    async def _report_states(self) -> None:
        self._work.tell(list(await self._work.due.standing()), self._work.now())

    async def _claim(self) -> Sequence[Payout]:
        """
        Claim due payouts up to capacity.

        If the clock was put back since the last turn, everything planned before is due now: it
        would be looked at only when the clock gets there again.
        """
        if not self._work.may_claim():
            return []
        now = self._work.now()
        if not self._has_recalled:
            # What is due is looked at all the same; the next turn tries again.
            with suppress(StoreUnavailable):
                await self.recall()
        before, self._turned_at = self._turned_at or now, now
        if now >= before - CORRECTED:
            return await self._claims.share(Lease(now, now + CLAIM))
        _log.warning("payouts_clock_put_back seconds=%d", (before - now).total_seconds())
        due = before + _PLANNED
        return await self._claims.everything(Lease(due, due + CLAIM))

    async def recall(self) -> None:
        """
        Plan a look now at payouts that are planned too far ahead; safe to repeat.

        Their clock was put back since: that of the database's server, or with a file this
        process's own. Before the first turn it may have been while no process ran.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        recalled = await self._work.due.recall(self._work.now())
        self._has_recalled = True
        if recalled:
            _log.warning("payouts_planned_too_far_ahead count=%d", recalled)

    async def look_at(self, payout: Payout, named: str = "", hear: Hear = ignore) -> Payout:
        """
        Query one payout at the bank, then in its statement; return it afterwards.

        ``named`` is the bank's id of it from a callback; see ``FollowUp.look``. ``hear`` is
        called with an answer that changed nothing.
        """
        account = await self._work.find_account(payout.account_id)
        if account is None:
            return payout
        seen = await self._work.follow_up.look(payout, account, _LOOK_S, named, hear)
        if self._may_be_in_statement(seen):
            seen = await self._work.follow_up.search_statement(seen, account, _LOOK_S)
        return seen

    async def probe(self, account_id: str, reference: str) -> Payout | None:
        """
        Query one payout now, and schedule its next check; None if it is or was just checked.

        Raises:
            StoreUnavailable: as stores do; the claim expires.
        """
        now = self._work.now()
        claim = ProbeClaim(
            account_id=account_id,
            reference=reference,
            owner=self._work.owner,
            at=now,
            until=now + CLAIM,
            quiet_since=now - PROBE_EVERY,
        )
        payout = await self._work.due.claim(claim)
        if payout is None:
            return None
        heard: list[PayoutEvent] = []
        async with self._places_of(payout.provider).place(account_id):
            look = self.look_at(payout, hear=heard.append)
            seen = await self._seen(look, payout, otherwise=payout)
        await self._release(seen, heard)
        return seen

    async def _follow(self, payouts: Sequence[Payout]) -> None:
        """
        Query payouts of one account and bank: each by itself, then the rest in one statement.

        Payouts that are settled, or held by the bank, are released at once.
        """
        trace.begin_background()
        first, left, begun = payouts[0], list[_Checked](), asyncio.get_running_loop().time()
        find = self._work.find_account(first.account_id)
        account = await self._seen(find, first, otherwise=None)
        async with asyncio.TaskGroup() as tasks:
            for payout in payouts:
                tasks.create_task(self._look(payout, account, left))
        if account is None or not left:
            return
        if len(left) == 1:
            trace.begin_background(left[0].claimed.trace_id, left[0].claimed.provider_key)
        seen = [each.seen for each in left]
        asking = Asking(
            within_s=_LOOK_S,
            ends_at=begun + _SEARCHED_S,
            place=partial(self._places_of(first.provider).place, first.account_id),
        )
        search = self._work.follow_up.search_statements(seen, account, asking)
        searched = await self._seen(search, first, otherwise=seen)
        async with asyncio.TaskGroup() as letting_go:
            for each, found in zip(left, searched, strict=True):
                letting_go.create_task(self._let_go(each.claimed, found, each.heard))

    async def _look(self, payout: Payout, account: Account | None, left: list[_Checked]) -> None:
        """Query one payout once its bank has capacity; open ones are appended to ``left``."""
        heard, seen = list[PayoutEvent](), payout
        if account is not None:
            async with self._places_of(payout.provider).place(payout.account_id):
                trace.begin_background(payout.trace_id, payout.provider_key)
                check = self._check(payout, account, heard.append)
                seen = await self._seen(check, payout, otherwise=payout)
        if account is not None and self._may_be_in_statement(seen):
            left.append(_Checked(payout, seen, heard))
        else:
            await self._let_go(payout, seen, heard)

    def _check(self, payout: Payout, account: Account, hear: Hear) -> Awaitable[Payout]:
        """End the hold of a held payout; query any other at its bank."""
        end_hold = self._work.end_hold
        if payout.state is PayoutState.HELD and end_hold is not None:
            return end_hold(payout)
        return self._work.follow_up.look(payout, account, _LOOK_S, hear=hear)

    def _may_be_in_statement(self, payout: Payout) -> bool:
        """Return whether it is open and not held: before the bank decides, it books nothing."""
        return payout.state in UNSETTLED and not payout.is_held(self._work.now())

    async def _let_go(self, claimed: Payout, seen: Payout, heard: Sequence[PayoutEvent]) -> None:
        await self._release(seen, heard)
        self._claims.let_go(claimed)
        self._checked.set()

    def _places_of(self, provider: str) -> FollowupSlots:
        places = self._places.get(provider)
        if places is None:
            places = self._places[provider] = FollowupSlots(self._work.rate(provider))
        return places

    async def _seen(self, look: Awaitable[Seen], payout: Payout, otherwise: Seen) -> Seen:
        """Query a payout; a failure of its bank must not delay other payouts."""
        try:
            return await look
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - an adapter's or a key's mistake stays with its payout
            _log.exception("payout_look_failed provider_key=%s", payout.provider_key)
            return otherwise

    async def _release(self, payout: Payout, heard: Sequence[PayoutEvent]) -> None:
        """Release the claim, and store the bank's answer."""
        now = self._work.now()
        due = next_check(payout, now, self._work.chance())
        stuck = due is None and payout.state not in FINAL_STATES
        if stuck and not payout.review:
            _log.error("payout_review provider_key=%s", payout.provider_key)
        await self._work.due.checked(
            Checked(
                account_id=payout.account_id,
                reference=payout.reference,
                attempt=payout.attempt,
                state=payout.state,
                owner=self._work.owner,
                at=now,
                next_check_at=due,
                review=stuck or (payout.review and payout.state not in FINAL_STATES),
                held_until=payout.held_until,
                heard=heard[-1] if heard else None,
            )
        )
