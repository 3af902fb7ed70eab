"""What a client takes from outside."""

from __future__ import annotations

from datetime import UTC

from gateway.net.common.runtime import Surroundings, utc_now


def test_the_wall_clock_is_aware_utc():
    assert utc_now().tzinfo is UTC


async def test_the_real_surroundings_move():
    around = Surroundings()
    begun = around.clock()

    await around.pause(0.001)

    assert around.clock() > begun
    assert 0 <= around.chance() < 1
