"""When the next request of a call begins, and when there is none any more."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clock:
    """
    Time and chance, which tests replace.

    Attributes:
        now: The aware time of day, for the date of a payout.
        monotonic: Seconds since any fixed moment, for deadlines.
        chance: A number from 0 up to 1, for jitter.
    """

    now: Callable[[], datetime] = _now
    monotonic: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.SystemRandom().random


class Tries:
    """The pauses of one call: 1, 2, 4 … 60 seconds, each shortened by up to a half at random."""

    def __init__(self, clock: Clock, deadline_s: float) -> None:
        """Begin; no request begins more than ``deadline_s`` from now."""
        self.clock = clock
        self._ends = clock.monotonic() + deadline_s
        self._pause_s = _FIRST_PAUSE_S

    @property
    def left_s(self) -> float:
        """Seconds until the deadline."""
        return self._ends - self.clock.monotonic()

    def pause_s(self, at_least_s: float | None = None) -> float | None:
        """Return how long to wait before the next request; None if the deadline comes first."""
        pause_s = max(at_least_s or 0.0, self._pause_s * (0.5 + self.clock.chance() / 2))
        self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
        return pause_s if pause_s <= self.left_s else None
