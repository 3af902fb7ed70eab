"""Asking banks about every payout that is not proven, in a person's name; no money is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from gateway.domain.backoffice.lists import UnresolvedPayout
from gateway.domain.identity.errors import NOT_POSSIBLE
from gateway.domain.kernel.errors import PAYOUT_NOT_FOUND, TOO_MANY_REQUESTS, ServiceError
from gateway.domain.kernel.windows import LARGEST_LIMIT, Paging
from gateway.domain.payouts.payouts import FINAL_STATES, Payout
from gateway.operations.backoffice.scoped_records import AdminServices
from gateway.operations.payouts.probes import PayoutProbes

ASKED_AT_MOST: Final = 50
"""Payouts of one act: a person can look through so many answers."""
AT_ONCE: Final = 2
"""Of one bank: few, for its other places are for partners."""
PACE_S: Final = 0.2
"""Between two questions to one bank: five in a second are no burst."""
BEGINS_WITHIN: Final = timedelta(seconds=10)
"""No question begins later: somebody waits for the page."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class ProbeResult(StrEnum):
    """
    What came of one payout.

    ASKED: its bank was asked; what it said is stored.
    JUST_ASKED: somebody asks now, or did in the last five seconds.
    ENDED: it had an outcome by the time it was its turn.
    NO_TIME: it was not its turn before the time was over.
    """

    ASKED = "asked"
    JUST_ASKED = "just_asked"
    ENDED = "ended"
    NO_TIME = "no_time"


_REFUSED: Final = {
    TOO_MANY_REQUESTS: ProbeResult.JUST_ASKED,
    NOT_POSSIBLE: ProbeResult.ENDED,
    PAYOUT_NOT_FOUND: ProbeResult.ENDED,
}


@dataclass(frozen=True, slots=True)
class ProbedPayout:
    """A payout as it stands now, and what came of it."""

    payout: Payout
    result: ProbeResult

    @property
    def is_proven(self) -> bool:
        """Say whether the bank's word has ended it."""
        return self.result is ProbeResult.ASKED and self.payout.state in FINAL_STATES


@dataclass(frozen=True, slots=True)
class ProbedAll:
    """What came of each; ``total`` counts those that were not proven before."""

    each: Sequence[ProbedPayout]
    total: int

    def count(self, result: ProbeResult) -> int:
        """Return how many ended so; those beyond ``ASKED_AT_MOST`` had no time either."""
        beyond = self.total - len(self.each) if result is ProbeResult.NO_TIME else 0
        return sum(one.result is result for one in self.each) + max(0, beyond)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedProbes:
    """
    Asks about many payouts, a few at a time at each bank.

    Attributes:
        pause: Waits for some seconds.
        running: Held while somebody's act runs: two would ask a bank twice as fast.
    """

    probes: PayoutProbes
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    running: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def probe_all(self, services: AdminServices, _taken: None) -> ProbedAll:
        """
        Ask about those in scope, first about those that nobody has asked about for longest.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) while somebody else's act runs.
            StoreUnavailable: as stores do; what was asked until then is stored.
        """
        if self.running.locked():
            wait = {"Retry-After": str(round(BEGINS_WITHIN.total_seconds()))}
            raise ServiceError(TOO_MANY_REQUESTS, "probed", wait)
        async with self.running:
            found = await services.visible.unresolved(Paging(1, LARGEST_LIMIT))
            waiting = sorted(found.items, key=_last_probe)[:ASKED_AT_MOST]
            results = await self._ask(services, [each.payout for each in waiting])
        return ProbedAll(each=results, total=found.total)

    async def _ask(
        self, services: AdminServices, payouts: Sequence[Payout]
    ) -> Sequence[ProbedPayout]:
        """Ask every bank about its payouts, the banks side by side."""
        until = services.acting.now() + BEGINS_WITHIN
        results: list[ProbedPayout] = []
        try:
            async with asyncio.TaskGroup() as asking:
                for queue in _by_bank(payouts).values():
                    asking.create_task(self._bank(services, queue, until, results))
        except ExceptionGroup as problems:
            raise _first(problems) from problems
        return results

    async def _bank(
        self,
        services: AdminServices,
        queue: Sequence[Payout],
        until: datetime,
        results: list[ProbedPayout],
    ) -> None:
        """Ask one bank, not faster than it may be asked."""
        places = asyncio.Semaphore(AT_ONCE)

        async def one(payout: Payout) -> None:
            try:
                results.append(await self._probe(services, payout))
            finally:
                places.release()

        async with asyncio.TaskGroup() as asking:
            for payout in queue:
                await places.acquire()
                if services.acting.now() >= until:
                    results.append(ProbedPayout(payout, ProbeResult.NO_TIME))
                    places.release()
                    continue
                asking.create_task(one(payout))
                await self.pause(PACE_S)

    async def _probe(self, services: AdminServices, payout: Payout) -> ProbedPayout:
        """Ask about one; the act is kept on record."""
        try:
            probed = await self.probes.probe(services.acting, payout.account_id, payout.reference)
        except ServiceError as refusal:
            result = _REFUSED.get(refusal.error)
            if result is None:
                raise
            return ProbedPayout(payout, result)
        return ProbedPayout(probed.after, ProbeResult.ASKED)


def _by_bank(payouts: Sequence[Payout]) -> Mapping[str, Sequence[Payout]]:
    """Return the payouts of each bank, in their order."""
    queues: dict[str, list[Payout]] = {}
    for each in payouts:
        queues.setdefault(each.provider, []).append(each)
    return queues


def _last_probe(found: UnresolvedPayout) -> datetime:
    """Return when its bank was asked last."""
    latest = found.attempts[-1].last_probe_at if found.attempts else None
    return latest or _NEVER


def _first(problems: BaseExceptionGroup[Exception]) -> Exception:
    """Return what went wrong first, out of groups within groups."""
    first = problems.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
