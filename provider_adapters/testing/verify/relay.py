"""
The relay between the adapter and the stage's bank: it counts, spoils and replaces.

Each request has a connection of its own, so that the n-th connection carries the n-th request.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from provider_adapters.kit.tolerant import EXACT
from provider_adapters.testing.verify.stage import BankAnswer, RelayTls

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_FRAMING: Final = re.compile(
    rb"\r\n(?:content-length|transfer-encoding|connection):[^\r]*", re.IGNORECASE
)
_CLOSES: Final = b"\r\nConnection: close"
_RESET: Final = struct.pack("ii", 1, 0)
_HEAD_END: Final = b"\r\n\r\n"
_TURNS_TO_A_TASK: Final = 4
"""Of the loop, from a connection that is accepted to the task that serves it; one to spare."""
# A side that was cut off sends no close_notify; asyncio would wait half a minute for it.
_HURRIED: Final[Mapping[str, Any]] = {"ssl_shutdown_timeout": 0.2}


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that was read whole; ``certificate`` is the adapter's, in DER, if it showed one."""

    method: str
    path: str
    head: bytes
    body: bytes
    number: int
    certificate: bytes


@dataclass(frozen=True, slots=True)
class Line:
    """One connection of the adapter; its requests are counted from 1."""

    relay: Relay
    number: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def read(self) -> Seen:
        """Read the request."""
        head = (await self.reader.readuntil(_HEAD_END)).removesuffix(_HEAD_END)
        length = _LENGTH.search(head)
        body = await self.reader.readexactly(int(length[1])) if length else b""
        method, path, _ = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
        tls = self.writer.get_extra_info("ssl_object")
        certificate = (tls.getpeercert(binary_form=True) or b"") if tls else b""
        seen = Seen(method, path, head, body, self.number, certificate)
        self.relay.seen.append(seen)
        return seen

    async def ask(self, seen: Seen) -> bytes:
        """Return the bank's answer to a request, with the certificate that the adapter showed."""
        where = urlsplit(self.relay.elsewhere.get(seen.path, self.relay.bank))
        tls: Mapping[str, Any] = {}
        if self.relay.tls and where.scheme == "https":
            tls = {"ssl": self.relay.tls.client(seen.certificate), **_HURRIED}
        reader, writer = await asyncio.open_connection(where.hostname, where.port, **tls)
        try:
            writer.write(seen.head + _CLOSES + _HEAD_END + seen.body)
            return await reader.read()
        finally:
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    async def say(self, data: bytes) -> None:
        """Send bytes to the adapter."""
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        bare = self.writer.get_extra_info("socket")
        bare.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.writer.transport.abort()


Play = Callable[[Line], Awaitable[None]]
"""Serves a connection, which is closed afterwards."""

Alter = Callable[[bytes], bytes]
"""Makes another body of an answer's body."""


async def pass_on(line: Line) -> None:
    """Give the bank's answer to the adapter."""
    await line.say(await line.ask(await line.read()))


def altering(alter: Alter) -> Play:
    """Change the body of the bank's answer."""

    async def play(line: Line) -> None:
        head, _, body = (await line.ask(await line.read())).partition(_HEAD_END)
        body = alter(_whole(body) if _CHUNKED.search(head) else body)
        length = b"\r\nContent-Length: %d" % len(body)
        await line.say(_FRAMING.sub(b"", head) + length + _CLOSES + _HEAD_END + body)

    return play


def reading(play: Play, *, executed: bool = False) -> Play:
    """Read the request before another play; ``executed`` lets the bank act, drops its answer."""

    async def both(line: Line) -> None:
        seen = await line.read()
        if executed:
            await line.ask(seen)
        await play(line)

    return both


def saying(data: bytes) -> Play:
    """Send these bytes."""

    async def play(line: Line) -> None:
        await line.say(data)

    return play


def answering(answer: BankAnswer, *, executed: bool = False) -> Play:
    """Answer in the bank's place; ``executed`` as in ``reading``."""
    status = f"{answer.status} {HTTPStatus(answer.status).phrase}"
    data = written(answer.body, status=status, headers=answer.headers)
    return reading(saying(data), executed=executed)


def written(
    body: bytes, *, status: str = "200 OK", headers: Mapping[str, str] | None = None
) -> bytes:
    """Write a whole answer with its length; JSON unless ``headers`` say otherwise."""
    names = {"Content-Type": "application/json", **(headers or {})}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in names.items())]
    head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "Connection: close"])
    return head.encode("latin-1") + _HEAD_END + body


@dataclass(slots=True)
class Relay:
    """
    A bank's address for one adapter; it keeps every request that it reads whole.

    ``elsewhere`` has the paths that the bank serves at another address, each with that address.
    """

    bank: str
    tls: RelayTls | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    _play: Callable[[int], Play] = lambda _: pass_on
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def address(self) -> str:
        """The relay's address, for the adapter."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def begin(self, play: Play = pass_on, *, at: int = 1, once: bool = False) -> None:
        """Count requests from one, and play at one request or, unless ``once``, from it on."""
        self._play = lambda now: play if now == at or (now > at and not once) else pass_on
        self.seen.clear()
        self.connections = 0

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Relay]:
        """Listen on a free port; every connection ends when this ends."""
        tls: Mapping[str, Any] = {"ssl": self.tls.server, **_HURRIED} if self.tls else {}
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, **tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            # A connection accepted a moment ago has no task yet, and a closed server loses it.
            for _ in range(_TURNS_TO_A_TASK):
                await asyncio.sleep(0)
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number, task = self.connections, asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._play(number)(Line(self, number, reader, writer))
        # The adapter or the bank went away, or the case is over: nothing else to be done.
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()
            self._tasks.discard(task)


def _whole(chunks: bytes) -> bytes:
    size, _, rest = chunks.partition(b"\r\n")
    length = int(size.partition(b";")[0] or b"0", 16)
    return rest[:length] + _whole(rest[length + 2 :]) if length else b""


Value = Callable[[object], object]
"""Makes another value of a field's value; a number with a fraction comes as its raw text."""

UNKNOWN_WORD: Final = "WORD_OF_THE_SUITE"
"""Which no bank uses."""


def alter_document(change: Value) -> Alter:
    """Return a change that replaces an answer's document; a body that is no JSON stays."""

    def altered(body: bytes) -> bytes:
        try:
            return msgspec.json.encode(change(EXACT.decode(body)))
        except (msgspec.DecodeError, ValueError):
            return body

    return altered


def alter_field(name: str, other: object) -> Alter:
    """Return a change that sets every field of a name to a value, or a function's result."""

    def walked(value: object) -> object:
        if isinstance(value, dict):
            change = other if callable(other) else lambda _: other
            return {key: change(v) if key == name else walked(v) for key, v in value.items()}
        return [walked(each) for each in value] if isinstance(value, list) else value

    return alter_document(walked)


def alter_leaves(change: Value, more: Mapping[str, object] | None = None) -> Alter:
    """Return a change of all but full lists and objects, which adds fields to every object."""

    def walked(value: object) -> object:
        if isinstance(value, dict) and value:
            return {**{key: walked(each) for key, each in value.items()}, **(more or {})}
        if isinstance(value, list) and value:
            return [walked(each) for each in value]
        return change(value)

    return alter_document(walked)


def another(value: object) -> object:
    """Return an amount or key of the same form whose last figure differs; any other unchanged."""
    match value:
        case bool():
            return value
        case int():
            return int(_another(str(value)))
        case msgspec.Raw():
            return msgspec.Raw(_another(bytes(value).decode()).encode())
        case str() if value:
            return _another(value)
    return value


def _another(text: str) -> str:
    return text[:-1] + ("0" if text[-1] != "0" else "1")
