"""What a bank does in these suites, besides answering."""

from __future__ import annotations

import asyncio
import random
import re

from tests.world.banks.scripted import Line, Play, answer

_MARK = re.compile(rb'"mark": (\d+)')


def echo(request: bytes) -> bytes:
    """Answer with the mark of the request."""
    found = _MARK.search(request)
    return answer(b'{"mark": %d}' % int(found[1] if found else 0))


async def echoing(line: Line) -> None:
    """Answer every request with its mark."""
    await line.say(echo(line.request))


def hasty(chance: random.Random) -> Play:
    """Close now and then: after the answer, a moment later, or instead of it."""

    async def play(line: Line) -> None:
        choice = chance.randrange(8)
        if choice == 0:
            line.reset()
            raise ConnectionResetError
        await line.say(echo(line.request))
        if choice in {1, 2}:
            await asyncio.sleep(chance.choice([0, 0, 0.0005, 0.001]))
            if choice == 2:
                line.reset()
            raise ConnectionResetError

    return play


def dripping(data: bytes) -> Play:
    """Answer byte by byte, and close."""

    async def play(line: Line) -> None:
        for byte in data:
            await line.say(bytes([byte]))
            await asyncio.sleep(0.001)

    return play
