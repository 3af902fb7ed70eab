"""The bulkhead: a limit on calls at once, so that a slow bank cannot take all connections."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from provider_adapters._shared.limits import BulkheadLimits

# The number changes twice with every call; four reports a second are enough for a gauge.
_REPORT_S: Final = 0.25


class Bulkhead:
    """
    At most so many calls at once, and so many waiting briefly for a place, in order.

    ``on_change`` is called with the number of calls in flight and the limit, a
    quarter of a second after the number changed.
    """

    def __init__(self, limits: BulkheadLimits, on_change: Callable[[int, int], None]) -> None:
        self._limits = limits
        self._on_change = on_change
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._report_timer: asyncio.TimerHandle | None = None
        self.in_flight = 0

    def enter_now(self) -> bool:
        """Take a place if one is free; calls that wait are never overtaken."""
        if self.in_flight >= self._limits.in_flight:
            return False
        self._changed(1)
        return True

    async def enter(self) -> bool:
        """Take a place, waiting if necessary; return False when there was none in time."""
        if self.enter_now():
            return True
        if len(self._waiting) >= self._limits.waiting:
            return False
        return await self._wait()

    def leave(self) -> None:
        """Hand the place to the first call that waits, or free it."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)  # handed over: the number of calls stays the same
                return
        self._changed(-1)

    def report(self) -> None:
        """Report the number of calls now, and cancel the timer."""
        if self._report_timer is not None:
            self._report_timer.cancel()
            self._report_timer = None
        self._on_change(self.in_flight, self._limits.in_flight)

    async def _wait(self) -> bool:
        """Wait for a place that ``leave`` hands over."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            async with asyncio.timeout(self._limits.wait_s):
                await place
        except BaseException as problem:
            if place.done() and not place.cancelled():
                self.leave()  # handed over and given up in the same turn of the loop
            elif place in self._waiting:
                self._waiting.remove(place)
            if isinstance(problem, TimeoutError):
                return False
            raise
        return True

    def _changed(self, by: int) -> None:
        """Count, and report soon."""
        self.in_flight += by
        if self._report_timer is None:
            self._report_timer = asyncio.get_running_loop().call_later(_REPORT_S, self.report)
