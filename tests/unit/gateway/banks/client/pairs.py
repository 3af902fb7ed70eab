"""
A bank at the other end of socket pairs, for tests whose clock leaps.

What one end of a pair has written the other end can read at once, so nothing is late when the
clock leaps; over TCP that is not certain.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.banks.client.connection import Connection
from tests.world.banks.scripted import Play, ScriptedBank


class Pairs:
    """A scripted bank that serves every connection joined to it."""

    def __init__(self, play: Play) -> None:
        self.bank = ScriptedBank(play, keeps=True)
        self._tasks: list[asyncio.Task[None]] = []

    async def join(self, line: Connection) -> Connection:
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: line, sock=ours)
        reader, writer = await asyncio.open_connection(sock=theirs)
        self._tasks.append(loop.create_task(self.bank(reader, writer)))
        return line

    async def stop(self) -> None:
        """End the bank's side of every connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def joining(play: Play) -> AsyncIterator[Pairs]:
    """Give a bank, and stop it afterwards."""
    pairs = Pairs(play)
    try:
        yield pairs
    finally:
        await pairs.stop()
