"""A deadline that moves, and the timer behind it."""

import asyncio
import contextvars

import pytest

from gateway.net.common.runtime import LazyTimer
from tests.world.leaping import leaping


class Late:
    """Notes when it is called."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def __call__(self) -> None:
        self.at.append(asyncio.get_running_loop().time())


@pytest.fixture
def late() -> Late:
    return Late()


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("set_in", 0.04)], [0.04]),
        ([], []),
        ([("set_in", 0.04), ("set_in", 0.1)], [0.1]),
        ([("set_in", 5.0), ("set_in", 0.04)], [0.04]),
        ([("set_in", 0.03), ("clear",)], []),
        ([("set_in", 0.02), ("wait", 0.06), ("set_in", 0.02)], [0.02, 0.08]),
        ([("set_in", 0.02), ("clear",), ("wait", 0.05), ("set_in", 0.02)], [0.07]),
        ([("set_in", 0.01), ("cancel",), ("wait", 0.03), ("set_in", 0.01)], [0.04]),
        ([("set_at", 0.02), ("set_at", 5), ("set_at", 0.04)], [0.04]),
        ([("set_at", 0.01), ("set_at", 0.04)], [0.04]),
        ([("set_at", -1000)], [0.0]),
    ],
    ids=[
        *("set once", "never set", "later", "nearer", "cleared", "set again after it was late"),
        *("set again after it was cleared and rang", "set again after it was cancelled"),
        *("the last of three instants", "the last of two", "an instant that has passed"),
    ],
)
@leaping
async def test_the_timer_fires_at_its_latest_deadline(late, steps, expected):
    """``set_at`` takes the loop's time, here after the start."""
    loop = asyncio.get_running_loop()
    timer, began = LazyTimer(loop, late), loop.time()

    for verb, *seconds in steps:
        if verb == "wait":
            await asyncio.sleep(*seconds)
        elif verb == "set_at":
            timer.set_at(began + seconds[0])
        else:
            getattr(timer, verb)(*seconds)
    await asyncio.sleep(10)

    assert [at - began for at in late.at] == pytest.approx(expected, abs=0.005)


@leaping
async def test_a_later_deadline_creates_no_new_timer(late, monkeypatch):
    """Every request does this, so it must be cheap."""
    timer = LazyTimer(asyncio.get_running_loop(), late)
    loop = asyncio.get_running_loop()
    timer.set_in(0.05)
    made = []
    monkeypatch.setattr(loop, "call_at", lambda *_, **__: made.append(1))

    for _ in range(100):
        timer.clear()
        timer.set_in(0.05)

    assert made == []


@leaping
async def test_a_disposed_timer_keeps_nothing(late):
    timer = LazyTimer(asyncio.get_running_loop(), late)
    timer.set_in(0.02)

    timer.dispose()
    await asyncio.sleep(0.06)

    assert (late.at, timer._timer) == ([], None)
    assert not hasattr(timer, "_on_late")


@leaping
async def test_the_timer_does_not_keep_the_request_s_context():
    """The timer outlives the request."""
    secret = contextvars.ContextVar("secret", default="")
    secret.set("canary")
    found: list[str] = []
    timer = LazyTimer(asyncio.get_running_loop(), lambda: found.append(secret.get()))

    timer.set_in(0)
    await asyncio.sleep(0.1)

    assert found == [""]
