"""
The weather at banks: how our own calls went, by minute, of every process.

A call went well where the bank answered it, even with a refusal. One that was kept back here,
since calls failed before, did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Final, Protocol

MINUTE: Final = timedelta(minutes=1)
CALL_BOUNDS_S: Final = (
    *(0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25),
    *(0.5, 1, 2, 3, 5, 8, 12, 20, 30),
)
"""Upper bounds in seconds of how long calls took; the metrics have the same."""
PLACES: Final = len(CALL_BOUNDS_S) + 1
WELL: Final = frozenset({"ok", "not_found", "rejected"})
"""Outcomes of calls that went well."""
_P95: Final = 0.95


class WeatherWindow(StrEnum):
    """How far back it is looked."""

    QUARTER = "15m"
    DAY = "24h"
    WEEK = "7d"


LENGTH: Final = {
    WeatherWindow.QUARTER: timedelta(minutes=15),
    WeatherWindow.DAY: timedelta(days=1),
    WeatherWindow.WEEK: timedelta(days=7),
}
STEP: Final = {
    WeatherWindow.QUARTER: MINUTE,
    WeatherWindow.DAY: timedelta(minutes=30),
    WeatherWindow.WEEK: timedelta(hours=3),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderMinute:
    """
    What one process did at a bank in a minute, by operation.

    Attributes:
        minute: When it began.
        calls: Those that were refused here included.
        ok: Those that went well.
        last_failure: The most frequent outcome of the others; empty where there were none.
        took: How many calls were made, by place in ``CALL_BOUNDS_S``, and one for the slower.
    """

    provider: str
    operation: str
    minute: datetime
    calls: int
    ok: int
    last_failure: str
    took: Sequence[int]


@dataclass(slots=True)
class Calls:
    """Calls that are added up; ``took`` as above."""

    calls: int = 0
    ok: int = 0
    took: list[int] = field(default_factory=lambda: [0] * PLACES)

    def add(self, minute: ProviderMinute) -> None:
        """Add those of some minutes."""
        self.calls += minute.calls
        self.ok += minute.ok
        self.took = [one + more for one, more in zip(self.took, minute.took, strict=True)]

    @property
    def success(self) -> float | None:
        """Which share went well, from 0 to 1; None where there were no calls."""
        return self.ok / self.calls if self.calls else None

    @property
    def p95_s(self) -> float | None:
        """About how many seconds 95 of 100 calls took at most; None where none was made."""
        wanted, below = sum(self.took) * _P95, 0
        if not wanted:
            return None
        for count, (least, most) in zip(self.took, pairwise((0.0, *CALL_BOUNDS_S)), strict=False):
            if count and below + count >= wanted:
                return least + (most - least) * (wanted - below) / count
            below += count
        return float(CALL_BOUNDS_S[-1])


@dataclass(frozen=True, slots=True)
class LastFailure:
    """The last minute with a call that failed, and the most frequent word of it."""

    provider: str
    operation: str
    minute: datetime
    word: str


class ProviderMinutes(Protocol):
    """Minutes of every process; providers belong to no company."""

    async def add(self, process: str, minutes: Sequence[ProviderMinute]) -> None:
        """Store those of one process."""
        ...

    async def added_up(
        self, since: datetime, step: timedelta, provider: str | None
    ) -> Sequence[ProviderMinute]:
        """Add up by provider, operation and step; ``minute`` is when the step began."""
        ...

    async def last_failures(self, since: datetime, provider: str | None) -> Sequence[LastFailure]:
        """Return the latest failure of each provider."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what is older; return how many rows."""
        ...
