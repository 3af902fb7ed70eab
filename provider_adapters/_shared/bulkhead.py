"""The bulkhead: one slow bank must not take all connections and memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from provider_adapters._shared.limits import BulkheadLimits

_TELL_S: Final = 0.25


class Bulkhead:
    """
    So many calls at once, and so many waiting a moment for a place, in order.

    ``told`` hears the number of calls in flight a quarter of a second after it
    has changed, for it changes twice with every call.
    """

    def __init__(self, limits: BulkheadLimits, told: Callable[[int, int], None]) -> None:
        self._limits = limits
        self._told = told
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._telling: asyncio.TimerHandle | None = None
        self.in_flight = 0

    def enter_now(self) -> bool:
        """Take a place if one is free; nobody is overtaken, for places change hands."""
        if self.in_flight >= self._limits.in_flight:
            return False
        self._changed(1)
        return True

    async def enter(self) -> bool:
        """Take a place, waiting if need be; False when there is none in time."""
        if self.enter_now():
            return True
        if len(self._waiting) >= self._limits.waiting:
            return False
        return await self._wait()

    def leave(self) -> None:
        """Give the place to the first who waits, or back."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)  # the place changes hands: the number stays
                return
        self._changed(-1)

    def tell(self) -> None:
        """Tell how many there are now, and leave no timer running."""
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        self._told(self.in_flight, self._limits.in_flight)

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
        """Count, and tell soon."""
        self.in_flight += by
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(_TELL_S, self.tell)
