"""Clocks that move only when a test moves them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from gateway.core.windows import Window

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
TODAY = NOON.date()


@dataclass(slots=True)
class Clock:
    """
    A wall clock and a monotonic one that move together.

    Attributes:
        at: What the wall clock shows.
        up_s: What the monotonic one shows.
        step_s: How far the monotonic one runs at each reading, for loops that wait for it.
    """

    at: datetime = NOON
    up_s: float = 1000.0
    step_s: float = 0.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        self.up_s += self.step_s
        return self.up_s

    def passes(self, seconds: float) -> None:
        """Let time pass on both."""
        self.at += timedelta(seconds=seconds)
        self.up_s += seconds


@cache
def around_today() -> Window:
    """Return three days around the first call, which a test does not leave at midnight."""
    day = datetime.now(UTC).date()
    return Window(day - timedelta(days=1), day + timedelta(days=1))
