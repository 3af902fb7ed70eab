"""An instant that moves, and the timer behind it."""

import asyncio

import pytest

from gateway.net.server.deadline import Deadline


class Late:
    """Notes when it is told."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def __call__(self) -> None:
        self.at.append(asyncio.get_running_loop().time())


@pytest.fixture
def late() -> Late:
    return Late()


@pytest.fixture
async def deadline(late: Late) -> Deadline:
    return Deadline(asyncio.get_running_loop(), late)


async def test_it_is_late_once_when_the_time_is_over(deadline, late):
    deadline.set(0.04)

    await asyncio.sleep(0.12)

    assert len(late.at) == 1


async def test_it_is_never_late_without_an_instant(deadline, late):
    await asyncio.sleep(0.03)

    assert late.at == []


async def test_a_later_instant_counts(deadline, late):
    """The timer rings at the first one, looks, and waits on."""
    started = asyncio.get_running_loop().time()
    deadline.set(0.04)

    deadline.set(0.1)
    await asyncio.sleep(0.2)

    assert [at - started for at in late.at] == [pytest.approx(0.1, abs=0.03)]


async def test_a_nearer_instant_counts(deadline, late):
    started = asyncio.get_running_loop().time()
    deadline.set(5.0)

    deadline.set(0.04)
    await asyncio.sleep(0.1)

    assert [at - started for at in late.at] == [pytest.approx(0.04, abs=0.03)]


async def test_a_cleared_one_is_not_late(deadline, late):
    deadline.set(0.03)

    deadline.clear()
    await asyncio.sleep(0.08)

    assert late.at == []


async def test_it_can_be_set_again_after_it_was_late(deadline, late):
    deadline.set(0.02)
    await asyncio.sleep(0.06)

    deadline.set(0.02)
    await asyncio.sleep(0.06)

    assert len(late.at) == 2


async def test_it_can_be_set_again_after_it_was_cleared_and_rang(deadline, late):
    deadline.set(0.02)
    deadline.clear()
    await asyncio.sleep(0.05)

    deadline.set(0.02)
    await asyncio.sleep(0.06)

    assert len(late.at) == 1


async def test_a_later_instant_sets_no_timer(deadline, late, monkeypatch):
    """What every request does must cost next to nothing."""
    loop = asyncio.get_running_loop()
    deadline.set(0.05)
    made = []
    monkeypatch.setattr(loop, "call_at", lambda *_: made.append(1))

    for _ in range(100):
        deadline.clear()
        deadline.set(0.05)

    assert made == []


async def test_nothing_is_left_when_it_is_stopped(deadline, late):
    deadline.set(0.02)

    deadline.stop()
    await asyncio.sleep(0.06)

    assert (late.at, deadline._timer) == ([], None)
