"""
Statistics of bank calls, per minute and process, and the job that stores this process's own.

The figures are differences of the metrics' counters, so that a call costs nothing more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import BigInteger, cast, func, insert, or_, select

from gateway.banks.model import MINUTE, WELL, FailingCalls, LastFailure, ProviderMinute
from gateway.core.clocks import Now
from gateway.store.kernel.database import Database
from gateway.store.kernel.old_rows import delete_old
from gateway.store.tables.columns import Record
from gateway.store.tables.figures import PLACES, provider_minutes
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import Key
from gateway.telemetry.metrics.registry import MetricRegistry

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HALF: Final = timedelta(seconds=30)
"""A run belongs to the minute that ended within the last 30 s."""
_OPERATION: Final = 2
"""A key is provider and operation; behind them, of the counter of calls, the outcome."""
_KEPT: Final = provider_minutes.c
_WHOLE: Final = ("provider", "operation", "calls", "ok", "last_failure")
_SUMMED: Final = ("calls", "ok", *(f"took_{place}" for place in range(PLACES)))


class ProviderMinutes:
    """Per-minute statistics of every process; providers have no company."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, process: str, minutes: Sequence[ProviderMinute]) -> None:
        """Store the minutes of one process."""
        if not minutes:
            return
        rows = [{"worker": process, **_row(each)} for each in minutes]
        await self._database.write(insert(provider_minutes), rows)

    async def added_up(
        self, since: datetime, step: timedelta, provider: str | None
    ) -> Sequence[ProviderMinute]:
        """Sum by provider, operation and step; ``minute`` is the start of the step."""
        first, length = _number(since), step // MINUTE
        each = select(
            _KEPT.provider,
            _KEPT.operation,
            ((_KEPT.minute - first) // length).label("step"),
            *(_KEPT[name] for name in _SUMMED),
        ).where(_KEPT.minute >= first)
        if provider is not None:
            each = each.where(_KEPT.provider == provider)
        part = each.subquery()
        alike = (part.c.provider, part.c.operation, part.c.step)
        sums = (cast(func.sum(part.c[name]), BigInteger).label(name) for name in _SUMMED)
        wanted = select(*alike, *sums).group_by(*alike).order_by(*alike)
        rows = await self._database.rows(wanted)
        return [_minute(row, since + row.step * step) for row in rows]

    async def last_failures(self, since: datetime, provider: str | None) -> Sequence[LastFailure]:
        """Return the latest failure of each provider."""
        failed = (_KEPT.minute >= _number(since), _KEPT.last_failure != "")
        latest = select(_KEPT.provider, func.max(_KEPT.minute).label("minute")).where(*failed)
        if provider is not None:
            latest = latest.where(_KEPT.provider == provider)
        last = latest.group_by(_KEPT.provider).subquery()
        wanted = (
            select(_KEPT.provider, _KEPT.operation, _KEPT.minute, _KEPT.last_failure)
            .join(last, (_KEPT.provider == last.c.provider) & (_KEPT.minute == last.c.minute))
            .where(_KEPT.last_failure != "")
            .order_by(_KEPT.provider, _KEPT.operation)
        )
        rows = await self._database.rows(wanted)
        found = {row.provider: row for row in reversed(rows)}
        return [
            LastFailure(row.provider, row.operation, _instant(row.minute), row.last_failure)
            for row in found.values()
        ]

    async def failing(self, since: datetime, provider: str) -> Sequence[FailingCalls]:
        """Return the operations of a provider whose last calls have all failed."""
        recent = (_KEPT.provider == provider, _KEPT.minute >= _number(since))
        well = (
            select(_KEPT.operation, func.max(_KEPT.minute).label("minute"))
            .where(*recent, _KEPT.ok > 0)
            .group_by(_KEPT.operation)
            .subquery()
        )
        later = or_(well.c.minute.is_(None), _KEPT.minute > well.c.minute)
        wanted = (
            select(_KEPT.operation, _KEPT.minute, _KEPT.calls, _KEPT.last_failure)
            .outerjoin(well, well.c.operation == _KEPT.operation)
            .where(*recent, later, _KEPT.last_failure != "")
            .order_by(_KEPT.minute)
        )
        found: dict[str, FailingCalls] = {}
        for row in await self._database.rows(wanted):
            new = FailingCalls(row.operation, _instant(row.minute), 0, "")
            known = found.get(row.operation, new)
            found[row.operation] = replace(
                known, calls=known.calls + row.calls, failure=row.last_failure
            )
        return list(found.values())

    async def forget(self, before: datetime) -> int:
        """Delete older minutes; return the number of rows."""
        return await delete_old(self._database, _KEPT.minute, _number(before))


def _number(at: datetime) -> int:
    """Return the number of a minute since 1970."""
    return (at - _EPOCH) // MINUTE


def _instant(number: int) -> datetime:
    return _EPOCH + number * MINUTE


def _row(found: ProviderMinute) -> dict[str, Any]:
    took = {f"took_{place}": count for place, count in enumerate(found.took)}
    kept = {name: getattr(found, name) for name in _WHOLE}
    return {**kept, "minute": _number(found.minute), **took}


def _minute(row: Record, at: datetime) -> ProviderMinute:
    return ProviderMinute(
        provider=row.provider,
        operation=row.operation,
        minute=at,
        calls=row.calls,
        ok=row.ok,
        last_failure="",
        took=[getattr(row, f"took_{place}") for place in range(PLACES)],
    )


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
        self._written: Mapping[Key, Sequence[float]] = {}

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
        self._written = counted
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
            before = self._written.get(key, [0] * len(cell))
            grown = [int(one - other) for one, other in zip(cell, before, strict=True)]
            if len(key) > _OPERATION:
                outcomes[key[:_OPERATION]][key[_OPERATION]] = grown[0]
            else:
                places[key] = grown
        for key, words in outcomes.items():
            if any(words.values()):
                yield _minute_of(key, words, places.get(key, [0] * PLACES), minute)


def _minute_of(
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
