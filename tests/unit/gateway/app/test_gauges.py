"""The event loop's lateness."""

import asyncio
import time

import pytest

from gateway.app.gauges import MeasuredLag
from tests.world.leaping import leaping


def lag(observed: list[float]) -> MeasuredLag:
    return MeasuredLag(observed.append, time.monotonic)


@leaping
async def test_a_blocked_event_loop_is_measured():
    observed: list[float] = []
    blocked_s = 0.0
    monitor = MeasuredLag(observed.append, lambda: time.monotonic() + blocked_s, samples=2)
    monitor.task.start()
    await asyncio.sleep(0.15)

    blocked_s = 0.08
    await asyncio.sleep(0.1)
    await monitor.task.stop()

    assert observed == pytest.approx([0, 0.08], abs=0.001)
    assert monitor.p95_s == pytest.approx(0.08, abs=0.001)


async def test_the_loop_lag_recovers():
    observed: list[float] = []
    monitor = MeasuredLag(observed.append, time.monotonic, samples=4)
    for seconds in (0.5, 0.5, 0.0, 0.0, 0.0, 0.0):
        monitor._take(seconds)

    assert monitor.p95_s == 0.0


async def test_one_late_sample_does_not_raise_the_percentile_and_two_do():
    """The 95th percentile of twenty samples is the second largest."""
    observed: list[float] = []
    monitor = lag(observed)
    for seconds in (*[0.001] * 19, 2.0):
        monitor._take(seconds)
    alone = monitor.p95_s
    monitor._take(2.0)

    assert (alone, monitor.p95_s) == (0.001, 2.0)


@leaping
async def test_waits_for_the_store_are_measured_beside_the_lag():
    observed: list[float] = []
    waits = iter([0.3, 0.4])
    monitor = MeasuredLag(observed.append, time.monotonic, samples=2)
    monitor.take_longest_wait = lambda: next(waits)
    monitor.task.start()
    await asyncio.sleep(0.25)
    await monitor.task.stop()

    assert (monitor.p95_s, monitor.store_wait_s) == (pytest.approx(0, abs=0.001), 0.4)
    assert observed == pytest.approx([0, 0], abs=0.001)


async def test_the_loop_lag_is_zero_before_the_first_sample():
    assert lag([]).p95_s == 0.0


@leaping
async def test_the_loop_lag_monitor_can_be_stopped_and_started_again():
    observed: list[float] = []
    monitor = MeasuredLag(observed.append, time.monotonic, interval_s=0.1)
    monitor.task.start()
    monitor.task.start()
    await asyncio.sleep(0.15)
    await monitor.task.stop()
    await monitor.task.stop()
    await asyncio.sleep(1)
    taken = len(observed)
    monitor.task.start()
    await asyncio.sleep(0.15)
    await monitor.task.stop()

    assert (taken, len(observed)) == (1, 2)
    assert len(asyncio.all_tasks()) == 1


async def test_fewer_than_twenty_samples_give_no_lag():
    """A slow start must not refuse the first callers."""
    monitor = lag([])
    for _ in range(19):
        monitor._take(9.0)

    assert monitor.p95_s == 0.0


async def test_resetting_discards_the_samples():
    monitor = lag([])
    for _ in range(20):
        monitor._take(9.0)
    before = monitor.p95_s

    monitor.forget()

    assert (before, monitor.p95_s) == (9.0, 0.0)
