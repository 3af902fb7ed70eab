"""
Periodic background work, with the one owner of its loop.

Starting, pausing, logging of failures and stopping are the same for every such
work, so they are written once, here.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gateway.core import trace
from gateway.core.clocks import Monotonic
from gateway.core.storage import StoreUnavailable

_log = logging.getLogger(__name__)

_LAST_RUN_S: Final = 3.0
"""For the last run. An unreachable store must not keep the process alive; orchestrators wait 10 s
or more before they kill, and the drain takes part of that."""

ELSEWHERE: Final = object()
"""Returned by a run that did nothing since another process does this work."""


class TryLater(Exception):
    """The work cannot be done now, for an expected reason; its text is logged as one warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """
    When the work is done.

    Attributes:
        every_s: The pause between two runs, in seconds; 0 for work that waits by itself.
        delayed: Pause before the first run, too.
        finishing: ``stop`` lets the current run end, then runs once more; False
            cancels the current run.
        backoff_to_s: The pause doubles after each failure, up to this many
            seconds; None keeps it.
    """

    every_s: float
    delayed: bool = False
    finishing: bool = False
    backoff_to_s: float | None = None


class PeriodicTask:
    """
    Repeats ``run_once`` from ``start`` to ``stop``.

    A run that fails is logged, and the next one tries again.

    Attributes:
        name: The work's name in the log and the metrics.
    """

    def __init__(
        self,
        name: str,
        run_once: Callable[[], Awaitable[object]],
        schedule: Schedule,
        wake: asyncio.Event | None = None,
        sleep: Callable[[float], Awaitable[object]] | None = None,
    ) -> None:
        """
        Start nothing yet.

        Args:
            name: The work's name in the log.
            run_once: Does the work once.
            schedule: The times of the runs.
            wake: Set it to end the pause at once.
            sleep: Pauses, for tests with a clock of their own; ``wake`` has no effect then.
        """
        self.name = name
        self._run_once = run_once
        self._schedule = schedule
        self._wake = wake or asyncio.Event()
        self._sleep = sleep
        self._pause_s = schedule.every_s
        self._task: asyncio.Task[None] | None = None
        self._fails_since: float | None = None
        self._succeeded_at: float | None = None
        self._clock: Monotonic = time.monotonic

    @property
    def success_age_s(self) -> float | None:
        """
        Return the seconds since the last success, or since the start.

        None before the start, and where the last run left the work to another process.
        """
        at = self._succeeded_at
        return None if at is None else self._clock() - at

    @property
    def failing_s(self) -> float:
        """Return for how many seconds every run has failed; zero while runs succeed."""
        if self._fails_since is None:
            return 0.0
        return asyncio.get_running_loop().time() - self._fails_since

    def start(self) -> None:
        """Start; a second call changes nothing."""
        if self._task is None:
            self._clock = asyncio.get_running_loop().time
            self._succeeded_at = self._clock()
            self._task = asyncio.create_task(self._run())  # noqa: TID251 - stop() ends it

    async def stop(self) -> None:
        """Stop, and return when nothing runs any more; a last run has a few seconds."""
        task, self._task = self._task, None
        if task is None:
            return
        if self._schedule.finishing:
            self._wake.set()
            await asyncio.wait([task], timeout=_LAST_RUN_S)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def _run(self) -> None:
        if self._schedule.delayed:
            await self._pause()
        while self._task is not None:
            self._wake.clear()
            await self._attempt()
            # a task group that fails while it is cancelled raises its failures instead
            if self._task is not None:
                await self._pause()
        if self._schedule.finishing:
            await self._attempt()

    async def _pause(self) -> None:
        """Wait for the next run, or until ``wake`` is set."""
        if not self._pause_s:
            return
        if self._sleep is not None:
            await self._sleep(self._pause_s)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), self._pause_s)

    async def _attempt(self) -> None:
        """Run once, under a trace id of its own; log failures, and choose the next pause."""
        trace.begin_background()
        try:
            done = await self._run_once()
        except asyncio.CancelledError as leaked:
            # One that nobody asked this task for is a failure of something that the run awaited.
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            self._failed(leaked)
        except Exception as problem:  # noqa: BLE001 - a background loop: the next run tries again
            self._failed(problem)
        else:
            self._succeeded_at = None if done is ELSEWHERE else self._clock()
            self._fails_since = None
            self._pause_s = self._schedule.every_s

    def _failed(self, problem: BaseException) -> None:
        """Record a failure, and lengthen the pause if the schedule says so."""
        self._report(problem)
        if self._fails_since is None:
            self._fails_since = asyncio.get_running_loop().time()
        longest_s = self._schedule.backoff_to_s
        if longest_s is not None:
            self._pause_s = min(self._pause_s * 2, longest_s)

    def _report(self, problem: BaseException) -> None:
        """Log a failure: an expected one as a warning, all others with their traceback."""
        unexpected = _unexpected(problem)
        if unexpected is not None:
            _log.error("failed: %s", self.name, exc_info=unexpected)
        elif isinstance(problem, TryLater):
            _log.warning("%s", problem)
        else:
            _log.warning("the store does not answer; later: %s", self.name)


def _unexpected(problem: BaseException) -> BaseException | None:
    """Return the unexpected part of a failure; None without one."""
    expected = (StoreUnavailable, TryLater)
    if isinstance(problem, ExceptionGroup):
        return problem.split(expected)[1]
    return None if isinstance(problem, expected) else problem
