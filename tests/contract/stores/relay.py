"""A road to a server that can be closed, cut, or fall silent, and opened again."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Relay:
    """
    Carries bytes between a loopback port of its own and a server's.

    Attributes:
        silent: Bytes of either side are taken and not handed on.
    """

    target: int
    port: int = 0
    silent: bool = False
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self) -> None:
        """Listen, on the same port each time."""
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Refuse new connections and cut those there are."""
        if self._server is not None:
            self._server.close()
        await self.cut()
        self._server = None

    async def cut(self) -> None:
        """End the connections there are."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        try:
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pump(reader, far_writer))
                    group.create_task(self._pump(far_reader, writer))
        finally:
            writer.transport.abort()
            far_writer.transport.abort()
            self._tasks.discard(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not self.silent:
                writer.write(data)
                await writer.drain()
        raise ConnectionResetError


@contextlib.asynccontextmanager
async def relayed(target: int) -> AsyncIterator[Relay]:
    """Open a road to a port of the loopback."""
    relay = Relay(target)
    await relay.open()
    try:
        yield relay
    finally:
        await relay.close()
