"""Work in the background."""

from __future__ import annotations

import asyncio

import pytest

from gateway.core.storage import StoreUnavailable
from gateway.process.periodic_task import ELSEWHERE, PeriodicTask, Schedule, TryLater
from tests.world.leaping import leaping
from tests.world.waiting import settle


class Work:
    """Work that fails for a while."""

    def __init__(self, *problems: Exception) -> None:
        self.problems = list(problems)
        self.runs = 0
        self.done = asyncio.Event()

    async def run_once(self) -> None:
        self.runs += 1
        if self.problems:
            raise self.problems.pop()
        self.done.set()


@leaping
async def test_a_failed_run_is_followed_by_another():
    work = Work(StoreUnavailable(), KeyError())
    task = PeriodicTask("work", work.run_once, Schedule(every_s=0.001))

    task.start()
    await work.done.wait()
    await task.stop()

    assert work.runs >= 3


@leaping
async def test_the_wake_event_ends_the_pause_between_runs():
    work, bell = Work(), asyncio.Event()
    task = PeriodicTask("work", work.run_once, Schedule(every_s=60), bell)
    task.start()
    await work.done.wait()
    work.done.clear()

    bell.set()

    await work.done.wait()
    await task.stop()
    assert work.runs == 2


@leaping
async def test_a_stopped_task_does_not_run():
    work = Work()
    task = PeriodicTask("work", work.run_once, Schedule(every_s=0.001))
    task.start()
    task.start()
    await work.done.wait()

    await task.stop()
    await task.stop()

    runs = work.runs
    await asyncio.sleep(0.02)
    assert work.runs == runs


@leaping
async def test_failures_of_a_run_are_logged(caplog: pytest.LogCaptureFixture):
    work = Work(KeyError("x"))
    task = PeriodicTask("sweeping", work.run_once, Schedule(every_s=0.001))

    task.start()
    await work.done.wait()
    await task.stop()

    assert "failed: sweeping" in caplog.text


@leaping
async def test_a_cancellation_raised_inside_a_run_does_not_end_the_task(
    caplog: pytest.LogCaptureFixture,
):
    """A run may await a task that was cancelled elsewhere, which is no request to stop."""
    cancelled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    cancelled.cancel()
    done = asyncio.Event()
    runs = 0

    async def run_once() -> None:
        nonlocal runs
        runs += 1
        if runs < 3:
            await cancelled
        done.set()

    task = PeriodicTask("sweeping", run_once, Schedule(every_s=0.001))
    task.start()
    async with asyncio.timeout(60):  # of the leaping clock: a work that has ended fails at once
        await done.wait()
    await task.stop()

    assert "failed: sweeping" in caplog.text


@leaping
async def test_the_duration_of_consecutive_failures_is_known():
    work = Work(*[KeyError()] * 3)
    task = PeriodicTask("work", work.run_once, Schedule(every_s=10))

    task.start()
    seen = [round(task.failing_s)]
    for _ in range(4):
        await asyncio.sleep(9)
        seen.append(round(task.failing_s))
    await task.stop()

    # three runs fail, at 0, 10 and 20 s; the one at 30 s ends well
    assert seen == [0, 9, 18, 27, 0]


class Slow:
    """Work that waits for a gate, and counts the runs that came to their end."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.ended = 0

    async def run_once(self) -> None:
        self.begun.set()
        await self.gate.wait()
        self.ended += 1


@pytest.mark.parametrize(("last", "ended"), [(True, 2), (False, 0)])
@leaping
async def test_stopping_during_a_run_adds_a_final_run_when_configured(last: bool, ended: int):
    """Work that arrived during the run is done as well."""
    work = Slow()
    task = PeriodicTask("work", work.run_once, Schedule(every_s=60, finishing=last))
    task.start()
    await work.begun.wait()

    stopping = asyncio.ensure_future(task.stop())
    await asyncio.sleep(0)
    work.gate.set()
    await stopping

    assert work.ended == ended


@leaping
async def test_stopping_between_runs_adds_a_final_run():
    work = Work()
    task = PeriodicTask("work", work.run_once, Schedule(every_s=60, finishing=True))
    task.start()
    await work.done.wait()

    await task.stop()
    await task.stop()

    assert work.runs == 2


@leaping
async def test_a_final_run_that_hangs_is_abandoned(monkeypatch: pytest.MonkeyPatch):
    """An unreachable store does not delay the end of the process."""
    monkeypatch.setattr("gateway.process.periodic_task._LAST_RUN_S", 0.05)
    work = Slow()
    task = PeriodicTask("work", work.run_once, Schedule(every_s=60, finishing=True))
    task.start()
    await work.begun.wait()

    await task.stop()

    assert work.ended == 0


@leaping
async def test_a_delayed_task_waits_before_its_first_run():
    work, wake = Work(), asyncio.Event()
    task = PeriodicTask("work", work.run_once, Schedule(every_s=60, delayed=True), wake)
    task.start()
    await asyncio.sleep(0.01)
    before = work.runs

    wake.set()
    await work.done.wait()
    await task.stop()

    assert (before, work.runs) == (0, 1)


@leaping
async def test_consecutive_failures_lengthen_the_pause_up_to_a_bound():
    """The first successful run restores the usual pause."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    work = Work(*[StoreUnavailable() for _ in range(4)])
    schedule = Schedule(every_s=1, backoff_to_s=5)
    task = PeriodicTask("work", work.run_once, schedule, sleep=sleep)
    task.start()
    await work.done.wait()
    await settle()
    await task.stop()

    assert pauses[:5] == [2, 4, 5, 5, 1]


@pytest.mark.parametrize(
    "problem",
    [StoreUnavailable(), ExceptionGroup("runs", [StoreUnavailable()]), TryLater("mail waits")],
    ids=["store", "group", "later"],
)
@leaping
async def test_expected_failures_are_warnings(problem: Exception, caplog: pytest.LogCaptureFixture):
    work = Work(problem)
    task = PeriodicTask("work", work.run_once, Schedule(every_s=0.001))

    task.start()
    await work.done.wait()
    await task.stop()

    assert {each.levelname for each in caplog.records} == {"WARNING"}


@leaping
async def test_our_own_errors_in_an_exception_group_are_logged(caplog: pytest.LogCaptureFixture):
    work = Work(ExceptionGroup("runs", [StoreUnavailable(), KeyError("ours")]))
    task = PeriodicTask("work", work.run_once, Schedule(every_s=0.001))

    task.start()
    await work.done.wait()
    await task.stop()

    assert "failed: work" in caplog.text
    assert "ours" in caplog.text
    assert "StoreUnavailable" not in caplog.text


@leaping
async def test_a_group_that_swallows_the_cancellation_does_not_delay_the_stop():
    """A task group that fails while it is cancelled raises its failures instead."""
    begun = asyncio.Event()

    async def fail_slowly() -> None:
        try:
            begun.set()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise KeyError from None

    task = PeriodicTask("work", fail_slowly, Schedule(every_s=60))
    task.start()
    await begun.wait()

    await task.stop()


@leaping
async def test_the_age_of_the_last_successful_run_is_known():
    ends: list[object] = [None, KeyError(), ELSEWHERE]
    ages: list[float | None] = []
    done = asyncio.Event()

    async def run() -> object:
        ages.append(task.success_age_s)
        if not ends:
            done.set()
            return None
        end = ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return end

    task = PeriodicTask("work", run, Schedule(every_s=60))
    before = task.success_age_s
    task.start()
    await done.wait()
    await task.stop()

    # at the start, after a good run, after a bad one, after one that left it to another process
    assert [before, *(age and round(age) for age in ages)] == [None, 0, 60, 120, None]
