"""A CONNECT proxy that passes bytes on, and can be made to fail."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from tests.servers.streams import listening

YES = b"HTTP/1.1 200 Connection established\r\nVia: 1.1 proxy\r\n\r\n"


@dataclass
class ConnectProxy:
    """
    A proxy, and what it saw.

    Attributes:
        to: The port on this machine that every name leads to.
        says: Its answer; None for none at all.
        asked: The heads it was sent.
        passed: Bytes from us to the bank.
    """

    to: int
    says: bytes | None = YES
    port: int = 0
    asked: list[bytes] = field(default_factory=list)
    passed: bytearray = field(default_factory=bytearray)
    answered: bytearray = field(default_factory=bytearray)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._serve(reader, writer)
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append(await reader.readuntil(b"\r\n\r\n"))
        if self.says is None:
            self.passed += await reader.read()
            return
        writer.write(self.says)
        if not self.says.startswith(b"HTTP/1.1 200"):
            return
        bank_reader, bank_writer = await asyncio.open_connection("127.0.0.1", self.to)
        try:
            await asyncio.gather(
                _pass_on(reader, bank_writer, self.passed),
                _pass_on(bank_reader, writer, self.answered),
            )
        finally:
            bank_writer.close()


async def _pass_on(source: asyncio.StreamReader, to: asyncio.StreamWriter, seen: bytearray) -> None:
    while data := await source.read(65536):
        seen += data
        to.write(data)
        await to.drain()
    to.close()


@contextlib.asynccontextmanager
async def proxying(proxy: ConnectProxy) -> AsyncIterator[ConnectProxy]:
    """Open the proxy's port while a test runs."""
    async with listening(proxy) as proxy.port:
        yield proxy
