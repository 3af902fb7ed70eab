"""
A caller at the other end of a socket pair, on a clock that leaps.

What one end of a pair has written the other end can read at once, so nothing is late when the
clock leaps; over TCP that is not certain.
"""

from __future__ import annotations

import asyncio
import socket

from gateway.net.server.http_server import Handler, HttpServer
from gateway.net.server.peer import ServerLimits
from gateway.net.server.reply import Refusals
from tests.world.leaping import leaping
from tests.world.raw_http import Answer, split
from tests.world.wired import Seen


def exchange(serves: Handler, limits: ServerLimits, *portions: bytes, gap_s: float) -> list[Answer]:
    """Send the portions at this distance, and read until the server closes."""
    answers: list[Answer] = []

    @leaping
    async def run() -> None:
        server = HttpServer(serves, limits, Refusals())
        ours, theirs = socket.socketpair()
        await asyncio.get_running_loop().connect_accepted_socket(server, ours)
        reader, writer = await asyncio.open_connection(sock=theirs)
        for number, portion in enumerate(portions):
            await asyncio.sleep(gap_s if number else 0)
            writer.write(portion)
        answers.extend(split(await reader.read()))
        writer.close()
        await server.close(1.0)

    run()
    return answers


def held_exchange(limits: ServerLimits, *portions: bytes, gap_s: float, held_s: float) -> list[int]:
    """Return the statuses; ``/held`` is answered after a time."""
    seen = Seen()

    def serves(request: object) -> object:
        asyncio.get_running_loop().call_later(held_s, seen.gate.set)
        return seen.answer(request)

    return [answer.status for answer in exchange(serves, limits, *portions, gap_s=gap_s)]
