"""Queries banks about every unproven payout, in a user's name; no money is sent."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.core.access import Staff, requires
from gateway.core.audit_context import AuditContext
from gateway.core.errors import PAYOUT_NOT_FOUND, TOO_MANY_REQUESTS, ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.core.windows import LARGEST_LIMIT, Paging
from gateway.payouts.model import FINAL_STATES, Payout
from gateway.payouts.staff import PayoutProbes
from gateway.reviews.model import ProbedAll, ProbedPayout, ProbeResult, UnresolvedPayout
from gateway.reviews.store import unresolved
from gateway.store.kernel.database import Database

ASKED_AT_MOST: Final = 50
"""Payouts of one act: a person can look through so many answers."""
AT_ONCE: Final = 2
"""Of one bank: few, for its other places are for partners."""
PACE_S: Final = 0.2
"""Between two questions to one bank: five in a second are no burst."""
BEGINS_WITHIN: Final = timedelta(seconds=10)
"""No question begins later: somebody waits for the page."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


_REFUSED: Final = {
    TOO_MANY_REQUESTS: ProbeResult.JUST_ASKED,
    NOT_POSSIBLE: ProbeResult.ENDED,
    PAYOUT_NOT_FOUND: ProbeResult.ENDED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedProbes:
    """
    Queries many payouts, a few at a time at each bank.

    Attributes:
        pause: Waits for some seconds.
        running: Held while a user's act runs: two acts would query a bank twice as fast.
    """

    database: Database
    probes: PayoutProbes
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    running: asyncio.Lock = field(default_factory=asyncio.Lock)

    @requires(Area.PROBE, Action.WRITE)
    async def probe_all(self, who: Staff) -> ProbedAll:
        """
        Query banks about up to 50 payouts whose outcome is not proven.

        The longest unqueried payouts come first.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) while another user's act runs.
            StoreUnavailable: as stores do; earlier answers are stored.
        """
        if self.running.locked():
            wait = {"Retry-After": str(round(BEGINS_WITHIN.total_seconds()))}
            raise ServiceError(TOO_MANY_REQUESTS, "probed", wait)
        async with self.running:
            found = await unresolved(self.database, who.scope, Paging(1, LARGEST_LIMIT))
            waiting = sorted(found.items, key=_last_probe)[:ASKED_AT_MOST]
            results = await self._ask(who.acting, [each.payout for each in waiting])
        times = Counter(each.result for each in results)
        return ProbedAll(
            total=found.total,
            asked=times[ProbeResult.ASKED],
            proven=sum(map(_is_proven, results)),
            just_asked=times[ProbeResult.JUST_ASKED],
            ended=times[ProbeResult.ENDED],
            # those beyond the most that are asked about had no time either
            no_time=times[ProbeResult.NO_TIME] + max(0, found.total - len(results)),
            data=results,
        )

    async def _ask(self, acting: AuditContext, payouts: Sequence[Payout]) -> list[ProbedPayout]:
        """Query the payouts at their banks, all banks concurrently."""
        until = acting.now() + BEGINS_WITHIN
        results: list[ProbedPayout] = []
        try:
            async with asyncio.TaskGroup() as asking:
                for queue in _by_bank(payouts).values():
                    asking.create_task(self._bank(acting, queue, until, results))
        except ExceptionGroup as problems:
            raise _first(problems) from problems
        return results

    async def _bank(
        self,
        acting: AuditContext,
        queue: Sequence[Payout],
        until: datetime,
        results: list[ProbedPayout],
    ) -> None:
        """Query one bank, within its rate limit."""
        places = asyncio.Semaphore(AT_ONCE)

        async def one(payout: Payout) -> None:
            try:
                results.append(await self._probe(acting, payout))
            finally:
                places.release()

        async with asyncio.TaskGroup() as asking:
            for payout in queue:
                await places.acquire()
                if acting.now() >= until:
                    results.append(ProbedPayout.of(payout, ProbeResult.NO_TIME))
                    places.release()
                    continue
                asking.create_task(one(payout))
                await self.pause(PACE_S)

    async def _probe(self, acting: AuditContext, payout: Payout) -> ProbedPayout:
        """Query one payout; the act is audited."""
        try:
            _, after = await self.probes.probe(acting, payout.account_id, payout.reference)
        except ServiceError as refusal:
            result = _REFUSED.get(refusal.error)
            if result is None:
                raise
            return ProbedPayout.of(payout, result)
        return ProbedPayout.of(after, ProbeResult.ASKED)


def _is_proven(found: ProbedPayout) -> bool:
    """Return whether the bank's answer has ended it."""
    return found.result is ProbeResult.ASKED and found.state in FINAL_STATES


def _by_bank(payouts: Sequence[Payout]) -> Mapping[str, Sequence[Payout]]:
    queues: dict[str, list[Payout]] = {}
    for each in payouts:
        queues.setdefault(each.provider, []).append(each)
    return queues


def _last_probe(found: UnresolvedPayout) -> datetime:
    latest = found.attempts[-1].last_probe_at if found.attempts else None
    return latest or _NEVER


def _first(problems: BaseExceptionGroup[Exception]) -> Exception:
    """Return the first failure within nested groups."""
    first = problems.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
