"""
The reconciler: asks banks about payouts that are not settled; it never sends.

It runs in every process. Claims share the work out, and the compare-and-set of
every step makes two that look at once harmless, so there is no leader.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gateway.domain.accounts.accounts import Accounts
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.followups import Checked, FollowUps, Unsettled, held_check
from gateway.domain.payouts.payouts import FINAL_STATES, Payout, PayoutState
from gateway.operations.payouts.followup import UNSETTLED, FollowUp
from gateway.runtime.periodic_task import PeriodicTask, Schedule
from gateway.telemetry import trace

_log = logging.getLogger(__name__)

_FIRST_S = (2, 5, 15, 60, 300, 900)
_HOUR = timedelta(hours=1)
# Looks go on hourly for more than a day, whatever the bank's hours; then two users decide.
_GIVES_UP = timedelta(hours=26)
# A process that dies leaves its payouts to the others after this time.
_CLAIM = timedelta(seconds=60)
# Longer than for a caller's read: here nobody waits for the answer.
_LOOK_S = 8.0
# Spreads the hourly looks of payouts that became unknown at one moment.
_JITTER = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """
    What the reconciler works with.

    Attributes:
        owner: The name its claims carry; another process has another.
        chance: Numbers from 0 up to 1; spreads the hourly looks.
        at_once: Looks in flight per provider.
        pause_s: Between two turns.
        tell: Shown how payouts stand, after every turn.
    """

    due: FollowUps
    accounts: Accounts
    follow_up: FollowUp
    now: Now
    owner: str
    chance: Callable[[], float]
    tell: Callable[[list[Unsettled], datetime], None]
    at_once: int = 2
    pause_s: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


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
        self._places: dict[str, asyncio.Semaphore] = {}

    async def run_once(self) -> int:
        """
        Look once at everything that is due; return how many payouts that were.

        Raises:
            StoreUnavailable: the store does not answer; in an ``ExceptionGroup``
                when it was lost between two looks.
        """
        work = self._work
        now = work.now()
        claimed = await work.due.claim_due(work.owner, now, now + _CLAIM)
        async with asyncio.TaskGroup() as looking:
            for payout in claimed:
                looking.create_task(self._in_turn(payout))
        work.tell(list(await work.due.standing()), work.now())
        return len(claimed)

    async def look_at(self, payout: Payout, named: str = "") -> Payout:
        """
        Look at one payout: at the bank, then in its statement; return it as it stands.

        ``named`` is the bank's id of it as a callback says it; see ``FollowUp.look``.
        """
        account = await self._work.accounts.find(payout.account_id)
        if account is None:
            return payout
        seen = await self._work.follow_up.look(payout, account, _LOOK_S, named)
        # The statement shows nothing before the bank has decided.
        if seen.state in UNSETTLED and not seen.is_held(self._work.now()):
            seen = await self._work.follow_up.search_statement(seen, account, _LOOK_S)
        return seen

    async def _in_turn(self, payout: Payout) -> None:
        """Look at one payout when its provider has a place, and say when to look again."""
        place = self._places.setdefault(payout.provider, asyncio.Semaphore(self._work.at_once))
        async with place:
            trace.begin(trace.new_trace_id())
            await self._release(await self._seen(payout))

    async def _seen(self, payout: Payout) -> Payout:
        """Look at one payout; what is wrong with its bank must not keep others from their look."""
        try:
            return await self.look_at(payout)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - an adapter's or a key's mistake stays with its payout
            _log.exception("payout_look_failed provider_key=%s", payout.provider_key)
            return payout

    async def _release(self, payout: Payout) -> None:
        """Let the claim go."""
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
