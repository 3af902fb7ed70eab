"""Leases for tasks that run in one worker at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Final

from gateway.core.clocks import Now
from gateway.core.storage import LEASE, StoreUnavailable
from gateway.process.periodic_task import ELSEWHERE
from gateway.store.kernel.leases import StoredTaskLeases

_log = logging.getLogger(__name__)

RunOnce = Callable[[], Awaitable[object]]

_RENEWED: Final = LEASE / 2
"""Before the end of a lease: a task that is repeated every few seconds seldom writes for it."""
_LOOKED_AT_S: Final = LEASE.total_seconds() / 6
"""While a run is under way: twice before its lease ends, should the store not answer at once."""


class LeasedTasks:
    """
    Leases this process's tasks.

    With a file as its store a process is alone, and needs none.
    """

    def __init__(
        self,
        leases: StoredTaskLeases | None,
        owner: str,
        now: Now,
        may_claim: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Begin without leases.

        Args:
            leases: None for a process that is alone.
            owner: A name unique to this process.
            now: The clock by which leases end.
            may_claim: Whether this process may take or renew leases now.
        """
        self._leases = leases
        self._owner = owner
        self._now = now
        self._may_claim = may_claim
        self._ends: dict[str, datetime] = {}

    def leased(self, task: str, run_once: RunOnce) -> RunOnce:
        """
        Wrap a task's work in its lease.

        A run returns ``ELSEWHERE``, and does nothing, while another process has the lease.

        The lease is renewed for as long as a run takes. A run whose lease is lost is cancelled.
        """

        async def run() -> object:
            if not await self._holds(task):
                return ELSEWHERE
            if self._leases is None:
                return await run_once()
            try:
                async with self._kept(task) as lease:
                    await run_once()
            except TimeoutError:
                if not lease.expired():
                    raise
                _log.warning("lease_lost task=%s: its run was cancelled", task)
                return ELSEWHERE
            return None

        return run

    async def release(self) -> None:
        """Release all leases, at the end of the process; with a silent store they expire."""
        if self._leases is not None and self._ends:
            self._ends.clear()
            with suppress(StoreUnavailable):
                await self._leases.release(self._owner, self._now())

    @asynccontextmanager
    async def _kept(self, task: str) -> AsyncIterator[asyncio.Timeout]:
        """Renew a lease for the length of the block, which is cancelled when the lease ends."""
        async with asyncio.timeout(self._left(task).total_seconds()) as lease:
            keeping = asyncio.create_task(self._keep(task, lease))  # noqa: TID251 - ended below
            try:
                yield lease
            finally:
                keeping.cancel()
                await asyncio.wait([keeping])

    async def _keep(self, task: str, lease: asyncio.Timeout) -> None:
        """Extend a lease, until another worker has it or it ends."""
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(_LOOKED_AT_S)
            with suppress(StoreUnavailable):
                is_held = await self._holds(task)
                if lease.expired():
                    return
                lease.reschedule(clock() + self._left(task).total_seconds() * is_held)

    def _left(self, task: str) -> timedelta:
        """Return the known remaining time of a lease."""
        now = self._now()
        return self._ends.get(task, now) - now

    async def _holds(self, task: str) -> bool:
        """Take or renew the lease, unless it still lasts for a while."""
        if self._leases is None:
            return True
        if not self._may_claim():
            return False
        now = self._now()
        if _RENEWED < self._left(task) <= LEASE:
            return True
        if await self._leases.take(task, self._owner, now):
            self._ends[task] = now + LEASE
            return True
        self._ends.pop(task, None)
        return False


class WorkerWatch:
    """
    Observes from a server process whether any worker is alive.

    Attributes:
        absent: Seconds since a worker's last lease ended; zero while one lasts.
    """

    def __init__(self, leases: StoredTaskLeases, now: Now, show: Callable[[float], None]) -> None:
        """Assume a worker until the first check; ``show`` gets the seconds."""
        self.absent = timedelta()
        self._leases = leases
        self._now = now
        self._show = show
        self._begun = now()

    async def run_once(self) -> None:
        """
        Check once.

        Raises:
            StoreUnavailable: the last result stays.
        """
        now = self._now()
        # A clock that was put back would let this process begin later than now.
        self._begun = min(self._begun, now)
        ended = await self._leases.latest(now) or self._begun
        self.absent = max(timedelta(), now - ended)
        self._show(self.absent.total_seconds())
