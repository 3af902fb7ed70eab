"""
What stands between the adapter and the stage's bank: it counts, spoils and replaces.

Each request has a connection of its own, so that the n-th connection carries the n-th request
and can be cut at any byte. What the relay is not told to spoil it hands on unchanged.
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

from provider_adapters.testing.verify.stage import BankAnswer, RelayTls

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_FRAMING: Final = re.compile(
    rb"\r\n(?:content-length|transfer-encoding|connection):[^\r]*", re.IGNORECASE
)
_CLOSES: Final = b"\r\nConnection: close"
_AUTHORIZATION: Final = re.compile(rb"\r\nauthorization:[^\r]*", re.IGNORECASE)
_RESET: Final = struct.pack("ii", 1, 0)
_HEAD_END: Final = b"\r\n\r\n"
_TURNS_TO_A_TASK: Final = 4
"""Of the loop, from a connection that is accepted to the task that serves it; one to spare."""
# Who was cut off says no goodbye; asyncio would wait half a minute for it.
_HURRIED: Final[Mapping[str, Any]] = {"ssl_shutdown_timeout": 0.2}


@dataclass(frozen=True, slots=True)
class Line:
    """One connection of the adapter; ``request`` is empty if it was not read."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    request: bytes

    async def say(self, data: bytes) -> None:
        """Send some bytes."""
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        bare = self.writer.get_extra_info("socket")
        bare.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.writer.transport.abort()


Play = Callable[[Line], Awaitable[None]]
"""What happens on a connection instead of an answer; it is closed afterwards."""

Alter = Callable[[bytes], bytes]
"""Makes another body of an answer's body, or another request of a whole request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """
    What is done about a request; without anything it is handed on.

    Attributes:
        play: Instead of an answer; the bank does not see the request.
        reads: False plays before the request is read.
        reaches_bank: True hands the request on before ``play``, and drops its answer.
        alter: Changes the body of the bank's answer.
        ask: Changes the request before the bank sees it.
    """

    play: Play | None = None
    reads: bool = True
    reaches_bank: bool = False
    alter: Alter | None = None
    ask: Alter | None = None


PASS_ON: Final = Act()


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that was read whole; ``certificate`` is the adapter's, in DER, if it showed one."""

    method: str
    path: str
    head: bytes
    body: bytes
    number: int
    certificate: bytes = b""


Script = Callable[[int], Act]
"""What is done about the n-th request, counted from 1."""


def from_request(number: int, act: Act) -> Script:
    """Do something about a request and all after it, repetitions among them."""
    return lambda now: act if now >= number else PASS_ON


def at_request(number: int, act: Act) -> Script:
    """Do something about one request."""
    return lambda now: act if now == number else PASS_ON


@dataclass(slots=True)
class Relay:
    """
    A bank's address for one adapter.

    Attributes:
        bank: The stage's address.
        bare: The adapter is spared TLS; the relay's own to the bank stays. Only where ``tls``
            says what it then shows.
        elsewhere: Paths that the bank has at another address of its own, each with that one.
        token_path: Of the call that gives tokens.
        tokens: Its answers for each credential, for relays that need not ask again.
        script: May be replaced between calls.
        after: Called with a request that the bank has answered, before the adapter
            gets the answer.
        seen: Every request that was read whole.
        connections: How many were accepted.
    """

    bank: str
    tls: RelayTls | None = None
    bare: bool = False
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    token_path: str = ""
    tokens: dict[bytes, bytes] | None = None
    script: Script = lambda _: PASS_ON
    after: Callable[[Seen], Awaitable[None]] | None = None
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def address(self) -> str:
        """Where the adapter finds it."""
        return f"{'https' if self.tls and not self.bare else 'http'}://127.0.0.1:{self.port}"

    def begin(self, script: Script) -> None:
        """Count from one again, with another script."""
        self.script = script
        self.seen.clear()
        self.connections = 0

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Relay]:
        """Listen on a free port."""
        tls: Mapping[str, Any] = {}
        if self.tls and not self.bare:
            tls = {"ssl": self.tls.server, **_HURRIED}
        server = await asyncio.start_server(self._accepted, "127.0.0.1", 0, **tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            await self._end(server)

    async def _end(self, server: asyncio.Server) -> None:
        """Stop listening, and end every connection."""
        # One that was accepted a moment ago has no task yet, and a closed server loses it.
        for _ in range(_TURNS_TO_A_TASK):
            await asyncio.sleep(0)
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            await self._serve(Line(reader, writer, b""), self.connections)
        # The adapter or the bank went away, or the case is over: nothing else to be done.
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()
            if task is not None:
                self._tasks.discard(task)

    async def _serve(self, line: Line, number: int) -> None:
        act = self.script(number)
        if act.play is not None and not act.reads:
            await act.play(line)
            return
        request = await _request(line.reader)
        seen = _seen(request, number, _certificate(line.writer))
        self.seen.append(seen)
        line = Line(line.reader, line.writer, request)
        if act.play is not None and not act.reaches_bank:
            await act.play(line)
            return
        asked = request if act.ask is None else act.ask(request)
        answer = await self._answer(seen, asked)
        if self.after is not None:
            await self.after(seen)
        if act.play is not None:
            await act.play(line)
        else:
            await line.say(_framed(answer, act.alter))

    async def _answer(self, seen: Seen, asked: bytes) -> bytes:
        """Return the bank's answer, or for a token one that it gave before."""
        if self.tokens is None or seen.path != self.token_path:
            return await self._asked(seen, asked)
        credential = _credential(seen)
        if credential not in self.tokens:
            self.tokens[credential] = await self._asked(seen, asked)
        return self.tokens[credential]

    async def _asked(self, seen: Seen, request: bytes) -> bytes:
        """Ask the bank as whoever showed a certificate; the connection ends with its answer."""
        where = urlsplit(self.elsewhere.get(seen.path, self.bank))
        tls: Mapping[str, Any] = {}
        if self.tls and where.scheme == "https":
            shown = (self.tls.without or b"") if self.bare else seen.certificate
            tls = {"ssl": self.tls.client(shown), **_HURRIED}
        reader, writer = await asyncio.open_connection(where.hostname, where.port, **tls)
        try:
            head, _, body = request.partition(_HEAD_END)
            writer.write(head + _CLOSES + _HEAD_END + body)
            await writer.drain()
            return await reader.read()
        finally:
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()


def written(
    body: bytes, *, status: str = "200 OK", headers: Mapping[str, str] | None = None
) -> bytes:
    """Write a whole answer with its length; JSON unless ``headers`` say otherwise."""
    names = {"Content-Type": "application/json", **(headers or {})}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in names.items())]
    head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "Connection: close"])
    return head.encode("latin-1") + _HEAD_END + body


def saying(data: bytes) -> Play:
    """Answer with these bytes."""

    async def play(line: Line) -> None:
        await line.say(data)

    return play


def answering(answer: BankAnswer) -> Play:
    """Answer in the bank's place."""
    status = f"{answer.status} {HTTPStatus(answer.status).phrase}"
    return saying(written(answer.body, status=status, headers=answer.headers))


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(_HEAD_END)
    length = _LENGTH.search(head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


def _certificate(writer: asyncio.StreamWriter) -> bytes:
    """Return what the other side showed; empty for nothing, and without TLS."""
    tls = writer.get_extra_info("ssl_object")
    return (tls.getpeercert(binary_form=True) or b"") if tls is not None else b""


def _seen(request: bytes, number: int, certificate: bytes) -> Seen:
    head, _, body = request.partition(_HEAD_END)
    method, path, _ = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
    return Seen(method, path, head, body, number, certificate)


def _credential(seen: Seen) -> bytes:
    """Return what a token is asked for with: a header, the body, or both."""
    header = _AUTHORIZATION.search(seen.head)
    return (header[0] if header else b"") + _HEAD_END + seen.body


def _framed(answer: bytes, alter: Alter | None) -> bytes:
    """Write a bank's answer as the last of its connection, with the length it has now."""
    head, _, body = answer.partition(_HEAD_END)
    if _CHUNKED.search(head):
        body = _whole(body)
    if alter is not None:
        body = alter(body)
    length = b"\r\nContent-Length: %d" % len(body)
    return _FRAMING.sub(b"", head) + length + _CLOSES + _HEAD_END + body


def _whole(chunks: bytes) -> bytes:
    """Join the chunks of a body."""
    parts, rest = [], chunks
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size.partition(b";")[0] or b"0", 16)
        if not length:
            break
        parts.append(rest[:length])
        rest = rest[length + 2 :]
    return b"".join(parts)
