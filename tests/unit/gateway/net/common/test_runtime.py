"""What a client takes from outside."""

from __future__ import annotations

from datetime import UTC

from gateway.net.common.runtime import Runtime, utc_now


def test_the_wall_clock_is_aware_utc():
    assert utc_now().tzinfo is UTC


async def test_the_real_surroundings_move():
    runtime = Runtime()
    begun = runtime.clock()

    await runtime.sleep(0.001)

    assert runtime.clock() > begun
    assert 0 <= runtime.random() < 1
