"""A road to a server that can be closed, cut, or fall silent, and opened again."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.servers.streams import Streams


class Relay:
    """
    Carries bytes between a loopback port of its own and a server's.

    Attributes:
        silent: Bytes of either side are taken and not handed on.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self.silent = False
        self._streams = Streams(self._carry)

    async def open(self) -> None:
        """Listen, on the same port each time."""
        self.port = await self._streams.open(self.port)

    async def close(self) -> None:
        """Refuse new connections and cut those there are."""
        await self._streams.close()

    async def cut(self) -> None:
        await self._streams.cut()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        try:
            with contextlib.suppress(ExceptionGroup):  # either side has ended
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pump(reader, far_writer))
                    group.create_task(self._pump(far_reader, writer))
        finally:
            far_writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not self.silent:
                writer.write(data)
                await writer.drain()
        raise ConnectionResetError


@contextlib.asynccontextmanager
async def relayed(target: int) -> AsyncIterator[Relay]:
    relay = Relay(target)
    await relay.open()
    try:
        yield relay
    finally:
        await relay.close()
