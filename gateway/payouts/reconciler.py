"""
The reconciler: asks banks about payouts that are not settled; it never sends.

It runs in every worker. Claims share the work out, and the compare-and-set of
every step makes two that look at once harmless, so there is no leader.

A turn claims for each bank what there is room for, and claims more as soon as half of that is
looked at. So a backlog is worked off without a pause, and a bank that hangs keeps its own places
and nobody else's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

from gateway.banks.paces import SLOWEST, BankPlaces, Pace
from gateway.core import trace
from gateway.core.account import Account
from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.due_claims import DueClaims, Lease, by_account
from gateway.payouts.events import PayoutEvent
from gateway.payouts.followup import UNSETTLED, FollowUp
from gateway.payouts.followups import CLAIM, PROBE_EVERY, Checked, ProbeClaim, held_check
from gateway.payouts.looks import Hear, unheard
from gateway.payouts.model import FINAL_STATES, Payout, PayoutState
from gateway.payouts.statement_evidence import Asking
from gateway.process.periodic_task import PeriodicTask, Schedule
from gateway.telemetry.records import Unsettled

Seen = TypeVar("Seen")
_log = logging.getLogger(__name__)

_FIRST_S = (2, 5, 15, 60, 300, 900)
_HOUR = timedelta(hours=1)
# Looks go on hourly for more than a day, whatever the bank's hours; then two users decide.
_GIVES_UP = timedelta(hours=26)
# A clock that is only corrected goes back by less; then nothing is late by more either.
_CORRECTED = timedelta(seconds=5)
# As far ahead as looks are planned while somebody may still wait for them.
_PLANNED = timedelta(minutes=15)
# How often a payout is looked at whose last step is in the future, for the clock was put back.
_PUT_BACK = timedelta(minutes=1)
# Longer than for a caller's read: here nobody waits for the answer.
_LOOK_S = 8.0
# A search that waits for its turns ends so long after its claim: what was found is noted in time.
_SEARCHED_S = 50.0
# Spreads the hourly looks of payouts that became unknown at one moment.
_JITTER = 0.1


def slowest(_provider: str) -> Pace:
    """Return the slowest pace, for any bank."""
    return SLOWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """
    What the reconciler works with.

    Attributes:
        find_account: Returns an account by its id, of the store or as the process keeps it.
        owner: The name its claims carry; another process has another.
        chance: Numbers from 0 up to 1; spreads the hourly looks.
        pace: How fast a bank is asked, by its provider's name.
        pause_s: Between two turns, and between two looks at the store in one.
        tell: Shown how payouts stand, after every turn.
    """

    due: StoredFollowUps
    find_account: Callable[[str], Awaitable[Account | None]]
    follow_up: FollowUp
    now: Now
    owner: str
    chance: Callable[[], float]
    tell: Callable[[list[Unsettled], datetime], None]
    pace: Callable[[str], Pace] = slowest
    pause_s: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, slots=True)
class _Looked:
    """A payout as it was claimed, as it stands after its look, and what was said of it."""

    claimed: Payout
    seen: Payout
    heard: Sequence[PayoutEvent]


class Reconciler:
    """
    Follows up unsettled payouts.

    Attributes:
        task: Follows up in the background. When it stops, a look under way is
            cancelled; its claim ends by itself.
    """

    def __init__(self, work: Work) -> None:
        """Start nothing yet."""
        self._work = work
        self.task = PeriodicTask(
            "unsettled payouts", self.run_once, Schedule(every_s=work.pause_s), sleep=work.sleep
        )
        self._places: dict[str, BankPlaces] = {}
        self._claims = DueClaims(work.due, work.owner, lambda name: self._places_of(name).pace)
        self._looked = asyncio.Event()
        self._turned_at = work.now()
        self._has_recalled = False

    async def run_once(self) -> int:
        """
        Look at everything that is due, until nothing is; return how many looks that were.

        Raises:
            StoreUnavailable: the store does not answer; in an ``ExceptionGroup``
                when it was lost between two looks.
        """
        try:
            looks = await self._look_at_all()
        except Exception:
            # What goes wrong with looks must be seen in the figures, so these go on.
            with suppress(StoreUnavailable):
                await self._tell()
            raise
        await self._tell()
        return looks

    async def _look_at_all(self) -> int:
        """Claim and look until nothing is due; tell how payouts stand now and then."""
        self._claims.forget()
        looks, told_at = 0, asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as looking:
            while True:
                claimed = await self._claim()
                looks += len(claimed)
                for payouts in by_account(claimed):
                    looking.create_task(self._follow(payouts))
                if not await self._is_under_way():
                    break
                if asyncio.get_running_loop().time() - told_at >= self._work.pause_s:
                    told_at = asyncio.get_running_loop().time()
                    await self._tell()
        return looks

    async def _is_under_way(self) -> bool:
        """Wait until there may be more to claim; False when nothing is left to look at."""
        try:
            async with asyncio.timeout(self._work.pause_s):
                while self._claims.holds_any and not self._claims.can_go_on:
                    self._looked.clear()
                    await self._looked.wait()
        except TimeoutError:
            return True
        return self._claims.can_go_on

    async def _tell(self) -> None:
        self._work.tell(list(await self._work.due.standing()), self._work.now())

    async def _claim(self) -> Sequence[Payout]:
        """
        Claim what is due and what there is room for.

        If the clock was put back since the last turn, everything planned before is due now: it
        would be looked at only when the clock gets there again.
        """
        now = self._work.now()
        if not self._has_recalled:
            # What is due is looked at all the same; the next turn tries again.
            with suppress(StoreUnavailable):
                await self._recall(now)
        before, self._turned_at = self._turned_at, now
        if now >= before - _CORRECTED:
            return await self._claims.share(Lease(now, now + CLAIM))
        _log.warning("payouts_clock_put_back seconds=%d", (before - now).total_seconds())
        due = before + _PLANNED
        return await self._claims.everything(Lease(due, due + CLAIM))

    async def _recall(self, now: datetime) -> None:
        """Before the first turn: a clock may have been put back while nobody lived through it."""
        recalled = await self._work.due.recall(now)
        self._has_recalled = True
        if recalled:
            _log.warning("payouts_planned_too_far_ahead count=%d", recalled)

    async def look_at(self, payout: Payout, named: str = "", hear: Hear = unheard) -> Payout:
        """
        Look at one payout: at the bank, then in its statement; return it as it stands.

        ``named`` is the bank's id of it as a callback says it; see ``FollowUp.look``. ``hear`` is
        told what the bank said where that moved nothing.
        """
        account = await self._work.find_account(payout.account_id)
        if account is None:
            return payout
        seen = await self._work.follow_up.look(payout, account, _LOOK_S, named, hear)
        # The statement shows nothing before the bank has decided.
        if seen.state in UNSETTLED and not seen.is_held(self._work.now()):
            seen = await self._work.follow_up.search_statement(seen, account, _LOOK_S)
        return seen

    async def probe(self, account_id: str, reference: str) -> Payout | None:
        """
        Look at one payout now, and plan its next look; None if somebody did or does just now.

        Raises:
            StoreUnavailable: as stores do; the claim ends by itself.
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
        Look at payouts of one account and bank: each by itself, then the rest in one statement.

        Those that a look has settled, or that their bank holds, are let go at once.
        """
        trace.begin_background()
        first, left, begun = payouts[0], list[_Looked](), asyncio.get_running_loop().time()
        find = self._work.find_account(first.account_id)
        account = await self._seen(find, first, otherwise=None)
        async with asyncio.TaskGroup() as looking:
            for payout in payouts:
                looking.create_task(self._look(payout, account, left))
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

    async def _look(self, payout: Payout, account: Account | None, left: list[_Looked]) -> None:
        """Look at one payout when its bank has a place; ``left`` gets it for the statement."""
        heard, seen, follow_up = list[PayoutEvent](), payout, self._work.follow_up
        if account is not None:
            async with self._places_of(payout.provider).place(payout.account_id):
                trace.begin_background(payout.trace_id, payout.provider_key)
                look = follow_up.look(payout, account, _LOOK_S, hear=heard.append)
                seen = await self._seen(look, payout, otherwise=payout)
        # The statement shows nothing before the bank has decided.
        if account is None or seen.state not in UNSETTLED or seen.is_held(self._work.now()):
            await self._let_go(payout, seen, heard)
        else:
            left.append(_Looked(payout, seen, heard))

    async def _let_go(self, claimed: Payout, seen: Payout, heard: Sequence[PayoutEvent]) -> None:
        """Release a claimed payout; its place in the claims is free."""
        await self._release(seen, heard)
        self._claims.let_go(claimed)
        self._looked.set()

    def _places_of(self, provider: str) -> BankPlaces:
        """Return the places of a bank."""
        places = self._places.get(provider)
        if places is None:
            places = self._places[provider] = BankPlaces(self._work.pace(provider))
        return places

    async def _seen(self, look: Awaitable[Seen], payout: Payout, otherwise: Seen) -> Seen:
        """Look; what is wrong with a payout's bank must not keep others from their look."""
        try:
            return await look
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - an adapter's or a key's mistake stays with its payout
            _log.exception("payout_look_failed provider_key=%s", payout.provider_key)
            return otherwise

    async def _release(self, payout: Payout, heard: Sequence[PayoutEvent]) -> None:
        """Let the claim go, and keep what the bank said."""
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


def next_check(payout: Payout, now: datetime, chance: float) -> datetime | None:
    """
    Say when to look again: soon at first, then hourly, after 26 hours never.

    Counted from when the payout came to where it stands, so that nothing has
    to remember how often it was looked at. One that its bank holds is looked at
    every few minutes until the bank's deadline, and from then on as usual.

    Args:
        payout: As it stands after a look.
        now: The instant of the look.
        chance: From 0 up to 1; spreads the hourly looks by a tenth.
    """
    if payout.state is PayoutState.SENDING:
        return payout.lease_until
    if payout.state is PayoutState.NOT_SENT:
        day = payout.date + timedelta(days=1)
        return datetime(day.year, day.month, day.day, tzinfo=UTC)
    if payout.state in FINAL_STATES or now - payout.updated_at >= _GIVES_UP:
        return None
    if payout.updated_at > now + _CORRECTED:
        return now + _PUT_BACK
    return _again(payout, now, chance)


def _again(payout: Payout, now: datetime, chance: float) -> datetime:
    """Say when to look again at a payout that is with the bank."""
    due = payout.updated_at
    if payout.held_until is not None and payout.state is PayoutState.ACCEPTED:
        if now < payout.held_until:
            return held_check(payout.held_until, now)
        due = max(due, payout.held_until)
    for step_s in _FIRST_S:
        due += timedelta(seconds=step_s)
        if due > now:
            return due
    return now + _HOUR * (1 + _JITTER * (2 * chance - 1))
