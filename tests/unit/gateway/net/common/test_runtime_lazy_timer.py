"""A deadline that moves, and the timer behind it."""

import asyncio
import contextvars

import pytest

from gateway.net.common.runtime import LazyTimer
from tests.world.leaping import leaping


class Late:
    """Notes when it is told."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def __call__(self) -> None:
        self.at.append(asyncio.get_running_loop().time())


@pytest.fixture
def late() -> Late:
    return Late()


@leaping
async def test_it_is_late_once_when_the_time_is_over(late):
    timer = LazyTimer(asyncio.get_running_loop(), late)
    timer.set_in(0.04)

    await asyncio.sleep(0.12)

    assert len(late.at) == 1


@leaping
async def test_it_is_never_late_without_an_instant(late):
    _timer = LazyTimer(asyncio.get_running_loop(), late)
    await asyncio.sleep(0.03)

    assert late.at == []


@leaping
async def test_a_later_instant_counts(late):
    """The timer rings at the first one, looks, and waits on."""
    timer = LazyTimer(asyncio.get_running_loop(), late)
    started = asyncio.get_running_loop().time()
    timer.set_in(0.04)

    timer.set_in(0.1)
    await asyncio.sleep(0.2)

    assert [at - started for at in late.at] == [pytest.approx(0.1, abs=0.005)]


@leaping
async def test_a_nearer_instant_counts(late):
    timer = LazyTimer(asyncio.get_running_loop(), late)
    started = asyncio.get_running_loop().time()
    timer.set_in(5.0)

    timer.set_in(0.04)
    await asyncio.sleep(0.1)

    assert [at - started for at in late.at] == [pytest.approx(0.04, abs=0.005)]


@leaping
async def test_a_cleared_one_is_not_late(late):
    timer = LazyTimer(asyncio.get_running_loop(), late)
    timer.set_in(0.03)

    timer.clear()
    await asyncio.sleep(0.08)

    assert late.at == []


@leaping
async def test_it_can_be_set_again_after_it_was_late(late):
    timer = LazyTimer(asyncio.get_running_loop(), late)
    timer.set_in(0.02)
    await asyncio.sleep(0.06)

    timer.set_in(0.02)
    await asyncio.sleep(0.06)

    assert len(late.at) == 2


@leaping
async def test_it_can_be_set_again_after_it_was_cleared_and_rang(late):
    timer = LazyTimer(asyncio.get_running_loop(), late)
    timer.set_in(0.02)
    timer.clear()
    await asyncio.sleep(0.05)

    timer.set_in(0.02)
    await asyncio.sleep(0.06)

    assert len(late.at) == 1


@leaping
async def test_a_later_instant_sets_no_timer(late, monkeypatch):
    """What every request does must cost next to nothing."""
    timer = LazyTimer(asyncio.get_running_loop(), late)
    loop = asyncio.get_running_loop()
    timer.set_in(0.05)
    made = []
    monkeypatch.setattr(loop, "call_at", lambda *_, **__: made.append(1))

    for _ in range(100):
        timer.clear()
        timer.set_in(0.05)

    assert made == []


@pytest.mark.parametrize("settings", [[0.02, 5, 0.04], [5, 0.04], [0.01, 0.04], [0.04]], ids=str)
@leaping
async def test_only_the_deadline_that_was_set_last_counts(late, settings):
    """Set as readings of the loop's clock."""
    timer = LazyTimer(asyncio.get_running_loop(), late)
    began = asyncio.get_running_loop().time()
    for seconds in settings:
        timer.set_at(began + seconds)

    await asyncio.sleep(10)

    assert len(late.at) == 1
    assert late.at[0] - began == pytest.approx(0.04, abs=0.002)


@leaping
async def test_a_deadline_that_has_passed_is_late_at_once(late):
    timer = LazyTimer(asyncio.get_running_loop(), late)
    timer.set_at(0.0)

    await asyncio.sleep(0.02)

    assert len(late.at) == 1


@leaping
async def test_a_cancelled_one_can_be_set_again(late):
    timer = LazyTimer(asyncio.get_running_loop(), late)
    timer.set_in(0.01)
    timer.cancel()
    await asyncio.sleep(0.03)
    before = len(late.at)

    timer.set_in(0.01)
    await asyncio.sleep(0.04)

    assert (before, len(late.at)) == (0, 1)


@leaping
async def test_nothing_is_left_when_it_is_disposed_of(late):
    timer = LazyTimer(asyncio.get_running_loop(), late)
    timer.set_in(0.02)

    timer.dispose()
    await asyncio.sleep(0.06)

    assert (late.at, timer._timer) == ([], None)
    assert not hasattr(timer, "_on_late")


@leaping
async def test_it_keeps_nothing_of_the_request():
    """The timer outlives the request; what the request knew must not."""
    secret = contextvars.ContextVar("secret", default="")
    secret.set("canary")
    found: list[str] = []
    timer = LazyTimer(asyncio.get_running_loop(), lambda: found.append(secret.get()))

    timer.set_in(0)
    await asyncio.sleep(0.1)

    assert found == [""]
