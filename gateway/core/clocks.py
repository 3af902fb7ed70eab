"""Time as a parameter, so that tests can stop it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

Now = Callable[[], datetime]
"""The wall clock: an aware instant in UTC."""

Monotonic = Callable[[], float]
"""Seconds that never run backwards; only differences mean something."""


_HOLDS_S: Final = 900.0
"""Longer than an attempt's lease and a bank's quiet period behind it."""
_DRIFT_S: Final = 1.0
"""A clock that is only corrected differs by less between two looks."""


class CertainClock:
    """
    A wall clock that never runs ahead of the elapsed time.

    When the wall clock is put forward, this clock ignores the change for 15 minutes, so that
    earlier instants are reached only after their real time. Later instants are reached late, never
    early. It must be read now and then.
    """

    def __init__(self, now: Now, monotonic: Monotonic) -> None:
        """Read the wall clock by ``now``; ``monotonic`` measures elapsed time."""
        self._now = now
        self._monotonic = monotonic
        self._ahead = now().timestamp() - monotonic()
        self._before: deque[tuple[float, float]] = deque()

    def __call__(self) -> datetime:
        """Return the instant, aware and in UTC."""
        now, at = self._now(), self._monotonic()
        ahead = now.timestamp() - at
        if ahead > self._ahead + _DRIFT_S:
            self._before.append((at, self._ahead))
        self._ahead = ahead
        while self._before and at - self._before[0][0] >= _HOLDS_S:
            self._before.popleft()
        least = min((was for _, was in self._before), default=ahead)
        return now - timedelta(seconds=max(0.0, ahead - least))


@dataclass(frozen=True, slots=True)
class Deadline:
    """A monotonic instant, in seconds; no work begins after it."""

    at: float
    clock: Monotonic

    def left(self) -> float:
        """Return the seconds left; negative when it has passed."""
        return self.at - self.clock()

    def passed(self) -> bool:
        """Return whether the instant has passed."""
        return self.clock() >= self.at
