"""Tasks that one worker of several does at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.storage import LEASE, StoreUnavailable, TaskLeases

RunOnce = Callable[[], Awaitable[object]]

_RENEWED: Final = LEASE / 2
"""Before the end of a lease: a task that is repeated every few seconds seldom writes for it."""


class LeasedTasks:
    """
    Leases this process's tasks.

    With a file as its store a process is alone, and needs none.
    """

    def __init__(self, leases: TaskLeases | None, owner: str, now: Now) -> None:
        """Hold nothing yet; ``owner`` is a name that no other process has."""
        self._leases = leases
        self._owner = owner
        self._now = now
        self._ends: dict[str, datetime] = {}

    def leased(self, task: str, run_once: RunOnce) -> RunOnce:
        """Return the work of a task as it is done under its lease: nothing while another has it."""

        async def run() -> None:
            if await self._holds(task):
                await run_once()

        return run

    async def release(self) -> None:
        """End all of them, at the end of the process; a silent store forgets them by itself."""
        if self._leases is not None and self._ends:
            self._ends.clear()
            with suppress(StoreUnavailable):
                await self._leases.release(self._owner, self._now())

    async def _holds(self, task: str) -> bool:
        """Take or renew the lease, unless it still lasts for a while."""
        if self._leases is None:
            return True
        now = self._now()
        left = self._ends.get(task, now) - now
        if _RENEWED < left <= LEASE:
            return True
        if await self._leases.take(task, self._owner, now):
            self._ends[task] = now + LEASE
            return True
        self._ends.pop(task, None)
        return False


class WorkerWatch:
    """
    Watches from a server process whether any worker is at work.

    Attributes:
        absent: Since the last lease of a worker ended; zero while one lasts.
    """

    def __init__(self, leases: TaskLeases, now: Now, show: Callable[[float], None]) -> None:
        """Believe in a worker until it was looked for; ``show`` gets the seconds."""
        self.absent = timedelta()
        self._leases = leases
        self._now = now
        self._show = show
        self._begun = now()

    async def run_once(self) -> None:
        """
        Look once.

        Raises:
            StoreUnavailable: what was found last stays.
        """
        now = self._now()
        # A clock that was put back would let this process begin later than now.
        self._begun = min(self._begun, now)
        ended = await self._leases.latest(now) or self._begun
        self.absent = max(timedelta(), now - ended)
        self._show(self.absent.total_seconds())
