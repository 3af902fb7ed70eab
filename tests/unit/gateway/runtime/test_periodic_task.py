"""Work in the background."""

from __future__ import annotations

import asyncio

import pytest

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.runtime.periodic_task import Turning


class Work:
    """Work that fails for a while."""

    def __init__(self, *problems: Exception) -> None:
        self.problems = list(problems)
        self.turns = 0
        self.done = asyncio.Event()

    async def turn(self) -> None:
        self.turns += 1
        if self.problems:
            raise self.problems.pop()
        self.done.set()


async def test_a_turn_that_fails_is_followed_by_another():
    work = Work(StoreUnavailable(), KeyError())
    turning = Turning("work", work.turn, 0.001)

    turning.start()
    async with asyncio.timeout(5):
        await work.done.wait()
    await turning.stop()

    assert work.turns >= 3


async def test_whoever_rings_is_not_kept_waiting():
    work, bell = Work(), asyncio.Event()
    turning = Turning("work", work.turn, 60, bell)
    turning.start()
    async with asyncio.timeout(5):
        await work.done.wait()
    work.done.clear()

    bell.set()

    async with asyncio.timeout(5):
        await work.done.wait()
    await turning.stop()
    assert work.turns == 2


async def test_what_was_stopped_turns_no_more():
    work = Work()
    turning = Turning("work", work.turn, 0.001)
    turning.start()
    turning.start()
    async with asyncio.timeout(5):
        await work.done.wait()

    await turning.stop()
    await turning.stop()

    turns = work.turns
    await asyncio.sleep(0.02)
    assert work.turns == turns


async def test_what_goes_wrong_is_logged(caplog: pytest.LogCaptureFixture):
    work = Work(KeyError("x"))
    turning = Turning("sweeping", work.turn, 0.001)

    turning.start()
    async with asyncio.timeout(5):
        await work.done.wait()
    await turning.stop()

    assert "failed: sweeping" in caplog.text


class Slow:
    """Work that waits for a gate, and counts the turns that came to their end."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.ended = 0

    async def turn(self) -> None:
        self.begun.set()
        await self.gate.wait()
        self.ended += 1


@pytest.mark.parametrize(("last", "ended"), [(True, 2), (False, 0)])
async def test_a_last_turn_follows_the_one_under_way(last: bool, ended: int):
    """What came in while it was under way is done as well."""
    work = Slow()
    turning = Turning("work", work.turn, 60, last=last)
    turning.start()
    await work.begun.wait()

    stopping = asyncio.ensure_future(turning.stop())
    await asyncio.sleep(0)
    work.gate.set()
    async with asyncio.timeout(5):
        await stopping

    assert work.ended == ended


async def test_a_last_turn_is_done_between_two_too():
    work = Work()
    turning = Turning("work", work.turn, 60, last=True)
    turning.start()
    async with asyncio.timeout(5):
        await work.done.wait()

    await turning.stop()
    await turning.stop()

    assert work.turns == 2


async def test_a_last_turn_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch):
    """A store that is away keeps no process."""
    monkeypatch.setattr("gateway.runtime.periodic_task._LAST_S", 0.05)
    work = Slow()
    turning = Turning("work", work.turn, 60, last=True)
    turning.start()
    await work.begun.wait()

    async with asyncio.timeout(5):
        await turning.stop()

    assert work.ended == 0
