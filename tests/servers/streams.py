"""A port of streams that leaves nothing open: whom it accepted is ended with it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

_TURNS = 4
"""Of the loop, until a connection that was accepted is known; a server closed earlier loses it."""


@dataclass(slots=True)
class Streams:
    """
    Serves each connection in a task, and aborts it when the task has ended, however it ended.

    A stream that nobody closes complains when it is collected: in whichever test runs then.
    """

    serve: Serve
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self, port: int = 0, *, place: socket.socket | None = None) -> int:
        """Listen, at a port held already or at this one; return which it is."""
        where = {"host": "127.0.0.1", "port": port} if place is None else {"sock": place}
        self._server = await asyncio.start_server(self._accepted, **where)  # type: ignore[arg-type]
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Refuse new connections and end those there are."""
        if self._server is not None:
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            self._server.close()
            self._server = None
        await self.cut()

    async def cut(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _ in range(_TURNS):
            await asyncio.sleep(0)  # an aborted transport closes its socket in the next turn

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._run(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(partial(self._ended, writer))

    async def _run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):  # one of the two went away
            await self.serve(reader, writer)

    def _ended(self, writer: asyncio.StreamWriter, task: asyncio.Task[None]) -> None:
        """Close what is left; a task that was cancelled before its first turn closed nothing."""
        self._tasks.discard(task)
        if not writer.transport.is_closing():
            writer.transport.abort()


@asynccontextmanager
async def listening(serve: Serve, *, place: socket.socket | None = None) -> AsyncIterator[int]:
    """Serve streams while the block runs; give the port."""
    streams = Streams(serve)
    port = await streams.open(place=place)
    try:
        yield port
    finally:
        await streams.close()
