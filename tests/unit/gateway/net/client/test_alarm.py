"""An alarm rings once, at what was set last."""

from __future__ import annotations

import asyncio
import contextvars

import pytest

from gateway.net.client.alarm import Alarm


class Bell:
    """When it rang."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.began = self.loop.time()
        self.rings: list[float] = []
        self.alarm = Alarm(self.loop, self.ring)

    def ring(self) -> None:
        self.rings.append(self.loop.time() - self.began)

    def set(self, seconds: float) -> None:
        self.alarm.set(self.began + seconds)


async def rung(bell: Bell, times: int = 1) -> None:
    async with asyncio.timeout(2):
        while len(bell.rings) < times:
            await asyncio.sleep(0.001)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [([0.03], 0.03), ([0.01, 0.05], 0.05), ([5, 0.03], 0.03), ([0.02, 5, 0.04], 0.04), ([-1], 0)],
)
async def test_it_rings_once_at_what_was_set_last(settings: list[float], expected: float):
    bell = Bell()
    for seconds in settings:
        bell.set(seconds)

    await rung(bell)
    await asyncio.sleep(0.05)

    assert len(bell.rings) == 1
    assert bell.rings[0] >= expected - 0.002


async def test_it_can_be_set_again_after_it_has_rung():
    bell = Bell()
    bell.set(0.01)
    await rung(bell)

    bell.set(bell.rings[0] + 0.02)

    await rung(bell, times=2)


async def test_one_that_is_stopped_never_rings():
    bell = Bell()
    bell.set(0.01)
    bell.alarm.stop()

    await asyncio.sleep(0.03)

    assert bell.rings == []


async def test_setting_it_later_and_later_winds_up_one_timer(monkeypatch: pytest.MonkeyPatch):
    """This is what makes it cheaper than a timer for each call."""
    bell = Bell()
    wound: list[float] = []
    call_at = bell.loop.call_at

    def counted(when: float, *rest: object, **named: object) -> asyncio.TimerHandle:
        wound.append(when)
        return call_at(when, *rest, **named)

    monkeypatch.setattr(bell.loop, "call_at", counted)
    for number in range(1000):
        bell.set(5 + number / 1000)
    bell.alarm.stop()

    assert len(wound) == 1


async def test_it_keeps_nothing_of_the_caller():
    """The timer outlives the call; what the call knew must not."""
    secret = contextvars.ContextVar("secret", default="")
    secret.set("canary")
    seen: list[str] = []
    alarm = Alarm(asyncio.get_running_loop(), lambda: seen.append(secret.get()))

    alarm.set(asyncio.get_running_loop().time())
    async with asyncio.timeout(2):
        while not seen:
            await asyncio.sleep(0.001)

    assert seen == [""]
