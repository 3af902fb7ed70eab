"""The event loop's lateness."""

import asyncio
import time

from gateway.runtime.gauges import LoopLag


def lag(observed: list[float], samples: int = 20) -> LoopLag:
    return LoopLag(observed.append, time.monotonic, interval_s=0.005, samples=samples)


async def until(observed: list[float], number: int) -> None:
    """Wait until so many samples were taken."""
    async with asyncio.timeout(5):
        while len(observed) < number:
            await asyncio.sleep(0.001)


async def test_a_blocked_loop_is_late():
    observed: list[float] = []
    monitor = lag(observed, samples=2)
    monitor.task.start()

    for _ in range(2):
        await until(observed, len(observed) + 1)
        time.sleep(0.08)
    await until(observed, len(observed) + 1)

    await monitor.task.stop()
    assert max(observed) > 0.05
    assert monitor.p95_s() > 0.05


async def test_the_figure_recovers():
    observed: list[float] = []
    monitor = LoopLag(observed.append, time.monotonic, samples=4)
    for seconds in (0.5, 0.5, 0.0, 0.0, 0.0, 0.0):
        monitor._take(seconds)

    assert monitor.p95_s() == 0.0


async def test_one_hiccup_is_no_overload_and_two_are():
    """The 95th percentile of twenty samples is the second largest."""
    observed: list[float] = []
    monitor = lag(observed)
    for seconds in (*[0.001] * 19, 2.0):
        monitor._take(seconds)
    alone = monitor.p95_s()
    monitor._take(2.0)

    assert (alone, monitor.p95_s()) == (0.001, 2.0)


async def test_before_the_first_sample_there_is_no_lag():
    assert lag([]).p95_s() == 0.0


async def test_it_stops_and_starts_again():
    observed: list[float] = []
    monitor = lag(observed)
    monitor.task.start()
    monitor.task.start()
    await until(observed, 1)
    await monitor.task.stop()
    await monitor.task.stop()
    taken = len(observed)
    await asyncio.sleep(0.02)
    silent = len(observed) == taken
    monitor.task.start()
    await until(observed, taken + 1)
    await monitor.task.stop()

    assert silent
    assert len(asyncio.all_tasks()) == 1


async def test_a_few_samples_are_no_verdict():
    """A slow start must not turn the first callers away."""
    monitor = lag([])
    for _ in range(19):
        monitor._take(9.0)

    assert monitor.p95_s() == 0.0


async def test_what_was_is_forgotten_when_that_is_asked_for():
    monitor = lag([])
    for _ in range(20):
        monitor._take(9.0)
    before = monitor.p95_s()

    monitor.forget()

    assert (before, monitor.p95_s()) == (9.0, 0.0)
