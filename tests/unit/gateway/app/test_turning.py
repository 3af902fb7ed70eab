"""Work in the background."""

from __future__ import annotations

import asyncio

import pytest

from gateway.app.turning import Turning
from gateway.domain.stores import StoreUnavailable


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
