"""
This process's calls of banks, stored once a minute.

The figures are differences of the metrics' counters, so that a call costs nothing more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from gateway.banks.model import MINUTE, WELL, ProviderMinute
from gateway.banks.store import ProviderMinutes
from gateway.core.clocks import Now
from gateway.store.tables.figures import PLACES
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import Key
from gateway.telemetry.metrics.registry import MetricRegistry

_HALF: Final = timedelta(seconds=30)
"""A run at the end of a minute tells of that minute, however late it is."""


class ProviderMinuteWriter:
    """Writes the calls since the last run; nothing without calls."""

    def __init__(
        self, records: ProviderMinutes, metrics: MetricRegistry, process: str, now: Now
    ) -> None:
        """Write differences of ``metrics`` under the name ``process``, unique to this process."""
        self._records = records
        self._metrics = metrics
        self._process = process
        self._now = now
        self._minute = datetime.min.replace(tzinfo=now().tzinfo)
        self._told: Mapping[Key, Sequence[float]] = {}

    async def run_once(self) -> int:
        """
        Write the counters' differences; return the number of rows.

        Raises:
            StoreUnavailable: the differences are written with the next minute.
        """
        counted = self._counted()
        begun = (self._now() - _HALF).replace(second=0, microsecond=0)
        minute = max(begun, self._minute + MINUTE)
        grown = list(self._grown(counted, minute))
        await self._records.add(self._process, grown)
        self._told = counted
        if grown:
            self._minute = minute
        return len(grown)

    def unwritten(self) -> Sequence[ProviderMinute]:
        """Return the counters' differences since the last run."""
        this_minute = self._now().replace(second=0, microsecond=0)
        return list(self._grown(self._counted(), this_minute))

    def _counted(self) -> Mapping[Key, Sequence[float]]:
        """Return the counters: numbers by outcome, buckets by operation."""
        requests = self._metrics.cells(series.PROVIDER_REQUESTS)
        took = self._metrics.cells(series.PROVIDER_DURATION)
        return {
            **{key: (cell.value,) for key, cell in requests.items()},
            **{key: tuple(cell.counts) for key, cell in took.items()},
        }

    def _grown(
        self, counted: Mapping[Key, Sequence[float]], minute: datetime
    ) -> Iterator[ProviderMinute]:
        outcomes: dict[Key, dict[str, int]] = defaultdict(dict)
        places: dict[Key, Sequence[int]] = {}
        for key, cell in counted.items():
            before = self._told.get(key, [0] * len(cell))
            grown = [int(one - other) for one, other in zip(cell, before, strict=True)]
            if len(key) > _OPERATION:
                outcomes[key[:_OPERATION]][key[_OPERATION]] = grown[0]
            else:
                places[key] = grown
        for key, words in outcomes.items():
            if any(words.values()):
                yield _told(key, words, places.get(key, [0] * PLACES), minute)


_OPERATION: Final = 2
"""A key is provider and operation; behind them, of the counter of calls, the outcome."""


def _told(
    key: Key, words: Mapping[str, int], took: Sequence[int], minute: datetime
) -> ProviderMinute:
    failed = {word: count for word, count in words.items() if count and word not in WELL}
    provider, operation = key
    return ProviderMinute(
        provider=provider,
        operation=operation,
        minute=minute,
        calls=sum(words.values()),
        ok=sum(words.get(word, 0) for word in WELL),
        last_failure=max(failed, key=failed.__getitem__, default=""),
        took=took,
    )
