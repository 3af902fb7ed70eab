"""What a bank does in these suites, besides answering."""

from __future__ import annotations

import random
import re

from tests.world.banks.scripted import Line, Play, answer
from tests.world.waiting import settle

_MARK = re.compile(rb'"mark": (\d+)')


def echo(request: bytes) -> bytes:
    found = _MARK.search(request)
    return answer(b'{"mark": %d}' % int(found[1] if found else 0))


async def echoing(line: Line) -> None:
    """Answer every request with its mark."""
    await line.say(echo(line.request))


def hasty(chance: random.Random) -> Play:
    """Close now and then: after the answer, a few turns of the loop later, or instead of it."""

    async def play(line: Line) -> None:
        choice = chance.randrange(8)
        if choice == 0:
            line.reset()
            raise ConnectionResetError
        await line.say(echo(line.request))
        if choice in {1, 2}:
            await settle(chance.choice([1, 1, 4, 10]))
            if choice == 2:
                line.reset()
            raise ConnectionResetError

    return play


def dripping(data: bytes) -> Play:
    """Answer byte by byte, and close."""

    async def play(line: Line) -> None:
        for byte in data:
            await line.say(bytes([byte]))
            await settle()

    return play
