"""Time as a parameter, so that tests can make it stand still."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

Now = Callable[[], datetime]
"""The wall clock: an aware instant in UTC."""

Monotonic = Callable[[], float]
"""Seconds that never run backwards; only differences mean something."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A monotonic instant, in seconds, after which something must not be begun."""

    at: float
    clock: Monotonic

    def left(self) -> float:
        """Return the seconds left; negative when it has passed."""
        return self.at - self.clock()

    def passed(self) -> bool:
        """Say whether the instant lies behind us."""
        return self.clock() >= self.at
