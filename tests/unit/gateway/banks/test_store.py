"""Minutes of providers are what the counters of the metrics grew by."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from gateway.banks.model import MINUTE, LastFailure, ProviderMinute
from gateway.banks.store import ProviderMinuteWriter
from gateway.core.storage import StoreUnavailable
from gateway.store.tables.figures import PLACES
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.registry import MetricRegistry
from tests.world.metrics import INSTANCE, WORDS
from tests.world.standing import NOON, Clock

ONE = ("sandbox", "get_balance")


class Minutes:
    """Stores what is added, unless it is down."""

    def __init__(self) -> None:
        self.kept: list[ProviderMinute] = []
        self.is_down = False

    async def add(self, process: str, minutes: Sequence[ProviderMinute]) -> None:
        if self.is_down:
            raise StoreUnavailable
        assert process == "w"
        self.kept += minutes

    async def added_up(
        self, since: datetime, step: timedelta, provider: str | None
    ) -> Sequence[ProviderMinute]:
        raise NotImplementedError

    async def last_failures(self, since: datetime, provider: str | None) -> Sequence[LastFailure]:
        raise NotImplementedError

    async def forget(self, before: datetime) -> int:
        raise NotImplementedError


class Process:
    def __init__(self) -> None:
        self.clock, self.minutes = Clock(), Minutes()
        self.metrics = MetricRegistry(INSTANCE, WORDS)
        self.writer = ProviderMinuteWriter(self.minutes, self.metrics, "w", self.clock.now)

    def call(self, outcome: str, took_s: float | None = 0.02) -> None:
        self.metrics.child(series.PROVIDER_REQUESTS, *ONE, outcome).value += 1
        if took_s is not None:
            self.metrics.child(series.PROVIDER_DURATION, *ONE).observe(took_s)


def took(*places: int) -> list[int]:
    return [places.count(place) for place in range(PLACES)]


async def test_a_minute_has_the_figures_of_its_calls():
    """A call refused here counts as failed, without a duration."""
    process = Process()
    for outcome in ("ok", "not_found", "timeout", "timeout", "rate_limited"):
        process.call(outcome)
    process.call("breaker_open", None)

    assert await process.writer.run_once() == 1

    (minute,) = process.minutes.kept
    assert (minute.provider, minute.operation) == ONE
    assert (minute.calls, minute.ok, minute.last_failure) == (6, 2, "timeout")
    assert minute.took == took(6, 6, 6, 6, 6)
    assert minute.minute == NOON - MINUTE


async def test_written_minutes_are_not_written_again():
    process = Process()
    process.call("ok")
    await process.writer.run_once()

    assert await process.writer.run_once() == 0

    process.call("timeout", 99.0)
    assert await process.writer.run_once() == 1
    assert (process.minutes.kept[1].calls, process.minutes.kept[1].ok) == (1, 0)
    assert process.minutes.kept[1].took == took(PLACES - 1)


async def test_no_minute_is_stored_twice():
    """A final run before the process ends may be in a minute already written."""
    process = Process()
    for _ in range(2):
        process.call("ok")
        await process.writer.run_once()

    first, second = process.minutes.kept
    assert second.minute == first.minute + MINUTE


async def test_unstored_figures_are_written_with_the_next_minute():
    process = Process()
    process.call("ok")
    process.minutes.is_down = True
    with pytest.raises(StoreUnavailable):
        await process.writer.run_once()

    process.minutes.is_down = False
    process.call("ok")
    await process.writer.run_once()

    assert [each.calls for each in process.minutes.kept] == [2]


async def test_unwritten_minutes_can_be_read():
    process = Process()
    process.call("ok")
    await process.writer.run_once()
    process.call("timeout")

    (found,) = process.writer.unwritten()
    await process.writer.run_once()

    assert (found.calls, found.ok, found.last_failure, found.minute) == (1, 0, "timeout", NOON)
    assert process.writer.unwritten() == []
