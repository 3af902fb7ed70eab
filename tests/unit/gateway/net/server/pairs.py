"""
A caller at the other end of a socket pair, on a clock that leaps.

What one end of a pair has written the other end can read at once, so nothing is late when the
clock leaps; over TCP that is not certain.
"""

from __future__ import annotations

import asyncio
import socket

from aiohttp import web
from aiohttp.typedefs import Handler

from gateway.net.server.front import Connections, Front
from gateway.net.server.peer import ServerLimits
from gateway.net.server.refusals import Refusals
from gateway.net.server.writing import on_the_wire
from tests.world.leaping import leaping
from tests.world.raw_http import Answer, split
from tests.world.wired import Seen, application


def exchange(serves: Handler, limits: ServerLimits, *portions: bytes, gap_s: float) -> list[Answer]:
    """Send the portions at this distance, and read until the server closes."""
    answers: list[Answer] = []

    @leaping
    async def run() -> None:
        app = application(serves, Seen())
        app.middlewares.insert(0, on_the_wire)
        runner = web.AppRunner(app, shutdown_timeout=1.0)
        await runner.setup()
        connections = Connections(limits)
        ours, theirs = socket.socketpair()
        await asyncio.get_running_loop().connect_accepted_socket(
            lambda: Front(connections, runner, Refusals()), ours
        )
        reader, writer = await asyncio.open_connection(sock=theirs)
        for number, portion in enumerate(portions):
            await asyncio.sleep(gap_s if number else 0)
            writer.write(portion)
        answers.extend(split(await reader.read()))
        writer.close()
        await runner.cleanup()

    run()
    return answers


def held_exchange(limits: ServerLimits, *portions: bytes, gap_s: float, held_s: float) -> list[int]:
    """Return the statuses; ``/held`` is answered after a time."""
    seen = Seen()

    async def serves(request: web.Request) -> web.StreamResponse:
        asyncio.get_running_loop().call_later(held_s, seen.gate.set)
        return await seen.answer(request)

    return [answer.status for answer in exchange(serves, limits, *portions, gap_s=gap_s)]
