"""The header deadline's clock."""

import asyncio

import pytest

from gateway.http.wire.clock import HeaderClock


@pytest.fixture
def rings() -> list[float]:
    return []


@pytest.fixture
async def clock(rings: list[float]) -> HeaderClock:
    loop = asyncio.get_running_loop()
    return HeaderClock(loop, 0.06, lambda: rings.append(loop.time()))


async def test_it_rings_once_when_the_time_is_over(clock, rings):
    clock.start()

    await asyncio.sleep(0.15)

    assert len(rings) == 1


async def test_the_first_byte_does_not_move_a_running_clock(clock, rings):
    """From the connection's start: a caller that waits has less time left to send."""
    started = asyncio.get_running_loop().time()
    clock.start()
    await asyncio.sleep(0.04)

    clock.begin()
    await asyncio.sleep(0.06)

    assert clock.begun
    assert rings[0] - started == pytest.approx(0.06, abs=0.03)


async def test_the_first_byte_starts_a_clock_that_stands(clock, rings):
    clock.begin()

    await asyncio.sleep(0.15)

    assert len(rings) == 1


async def test_it_does_not_ring_once_stopped(clock, rings):
    clock.begin()

    clock.stop()
    await asyncio.sleep(0.1)

    assert (rings, clock.begun) == ([], False)


async def test_it_can_be_started_again_after_it_rang(clock, rings):
    clock.start()
    await asyncio.sleep(0.1)

    clock.start()
    await asyncio.sleep(0.1)

    assert len(rings) == 2
