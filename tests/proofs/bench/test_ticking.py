"""The timer: even intervals, and an end."""

import asyncio
import time

from bench.ticking import ticks


async def test_it_ticks_at_even_intervals_for_the_length_of_the_block():
    seen: list[None] = []

    began = time.monotonic()
    with ticks(0.002, lambda: seen.append(None)):
        async with asyncio.timeout(60):
            while len(seen) < 25:
                await asyncio.sleep(0.002)
    took_s = time.monotonic() - began
    inside = len(seen)
    await asyncio.sleep(0.01)

    assert inside <= took_s / 0.002
    assert len(seen) == inside
