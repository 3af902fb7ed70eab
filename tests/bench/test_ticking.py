"""The timer: even intervals, and an end."""

import asyncio

from bench.ticking import ticks


async def test_it_ticks_at_even_intervals_for_the_length_of_the_block():
    seen: list[None] = []

    with ticks(0.002, lambda: seen.append(None)):
        await asyncio.sleep(0.1)
    inside = len(seen)
    await asyncio.sleep(0.01)

    assert 5 <= inside <= 52
    assert len(seen) == inside
