"""Until when a connection may stay as it is: one timer, moved without touching the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf


class Deadline:
    """
    An instant that moves with every request, behind a timer that rarely does.

    A timer set too early looks again when it rings; only an instant that comes
    nearer than the timer sets another one.
    """

    __slots__ = ("_at", "_loop", "_on_late", "_rings_at", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, on_late: Callable[[], None]) -> None:
        """Call ``on_late`` each time the instant passes; begin without one."""
        self._loop = loop
        self._on_late = on_late
        self._at = inf
        self._rings_at = inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> None:
        """Be late in so many seconds, whatever was set before."""
        self._at = self._loop.time() + seconds
        if self._at < self._rings_at:
            self._arm()

    def clear(self) -> None:
        """Be never late."""
        self._at = inf

    def stop(self) -> None:
        """Be never late again, and let go of the timer and of who was to be told."""
        self._at = self._rings_at = inf
        del self._on_late
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        """Ring at the instant instead."""
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = self._at
        self._timer = self._loop.call_at(self._at, self._ring)

    def _ring(self) -> None:
        """Tell that it is late, or look again later."""
        self._timer = None
        self._rings_at = inf
        if self._at == inf:
            return
        if self._loop.time() < self._at:
            self._arm()
            return
        self._at = inf
        self._on_late()
