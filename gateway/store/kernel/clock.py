"""The database's clock, and how far this process's clock is ahead of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from gateway.core.clocks import Monotonic, Now

_LONGEST_S: Final = 1.0
"""A reading is wrong by half its round trip at most. One that takes longer is not used."""


class DatabaseClock:
    """
    The clock of the database's server: one for all processes on a store.

    Between two readings it advances by the elapsed time, independent of the wall clock. Before
    the first one, and over a file, it is this process's own clock.
    """

    def __init__(
        self,
        now: Now,
        monotonic: Monotonic,
        tolerance_s: float,
        offset: timedelta = timedelta(),
    ) -> None:
        """
        Begin without a reading.

        Args:
            now: The wall clock of this process.
            monotonic: Measures elapsed time.
            tolerance_s: How far apart both clocks are in step.
            offset: By which ``now`` is wrong on purpose; the server's clock is shifted with it.
        """
        self._now = now
        self._monotonic = monotonic
        self._tolerance_s = tolerance_s
        self._offset = offset
        self._at_zero: datetime | None = None

    def now(self) -> datetime:
        """Return the instant, aware and in UTC."""
        if self._at_zero is None:
            return self._now()
        return self._at_zero + timedelta(seconds=self._monotonic())

    def ahead_s(self) -> float | None:
        """Return by how much this process's clock is ahead; None before the first reading."""
        if self._at_zero is None:
            return None
        return (self._now() - self.now()).total_seconds()

    def is_in_step(self) -> bool:
        """Return whether both clocks agree, as far as is known."""
        return abs(self.ahead_s() or 0.0) <= self._tolerance_s

    async def read(self, server_time: Callable[[], Awaitable[datetime]]) -> None:
        """Read the server's clock, unless the answer takes too long; raises its errors."""
        began_s = self._monotonic()
        at = await server_time()
        took_s = self._monotonic() - began_s
        if took_s <= _LONGEST_S:
            self._at_zero = at + self._offset - timedelta(seconds=began_s + took_s / 2)
