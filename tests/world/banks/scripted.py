"""A bank on a raw socket that does what a test says, byte by byte."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

Play = Callable[["Line"], Awaitable[None]]

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_RESET = struct.pack("ii", 1, 0)


@dataclass
class Line:
    """One connection, its request read."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    request: bytes

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        bare = self.writer.get_extra_info("socket")
        bare.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.writer.transport.abort()


@dataclass
class ScriptedBank:
    """
    What is behind a port.

    Attributes:
        requests: Those read to their end, headers and body.
        connections: How many were accepted.
        play: What follows; None for keeping silent without reading.
    """

    play: Play
    reads: bool = True
    keeps: bool = False
    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def has_served(self) -> bool:
        """Were there connections, and has each come to its end?"""
        return self.connections > 0 and not self._tasks

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connections += 1
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the caller went away
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            request = await _request(reader) if self.reads else b""
            if self.reads:
                self.requests.append(request)
            await self.play(Line(reader, writer, request))
            if not self.keeps:
                return

    async def stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def standing(
    bank: ScriptedBank, port: int = 0, **options: object
) -> AsyncIterator[ScriptedBank]:
    """Open the bank's port while a test runs."""
    server = await asyncio.start_server(bank, "127.0.0.1", port, **options)  # type: ignore[arg-type]
    bank.port = server.sockets[0].getsockname()[1]
    try:
        yield bank
    finally:
        for _ in range(4):  # a connection accepted a moment ago is lost by a closed server
            await asyncio.sleep(0)
        server.close()
        await bank.stop()


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


def answer(
    body: bytes = b"{}", *, status: str = "200 OK", headers: tuple[bytes, ...] = ()
) -> bytes:
    lines = (
        f"HTTP/1.1 {status}".encode("latin-1"),
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        *headers,
    )
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def saying(data: bytes) -> Play:
    """Answer every request with these bytes."""

    async def play(line: Line) -> None:
        await line.say(data)

    return play
