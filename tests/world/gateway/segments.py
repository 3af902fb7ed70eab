"""
Connections without a socket, whose segments are what a test says.

The kernel joins and splits what is written to a socket. Here each piece comes by itself, and the
loop has a turn before the next.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
import pytest

import gateway.http.server
import gateway.net.server.listener
from gateway.banks.client.messages import ProviderAnswer, ProviderRequest
from gateway.banks.client.transport import HttpTransport
from gateway.net.server.front import Front
from gateway.net.server.lane import Lane, WholeRequest
from gateway.net.server.listener import Listener
from gateway.net.server.peer import Peer
from gateway.telemetry.observer import TelemetryObserver
from gateway.telemetry.records import AccessRecord
from tests.world.gateway.world import World
from tests.world.waiting import settle

TURNS = 6
"""Of the loop, in which nothing happens: more than aiohttp needs to begin a request."""

_PEER = ("127.0.0.1", 50_000)
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_CONNECTION = re.compile(rb"(?<=\r\n)Connection: (close|keep-alive)\r\n")
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d{1,4})\r\n")
_TRACE = re.compile(rb"\r\nX-Trace-ID: ([^\r]*)\r\n")
_OWN = re.compile(rb"(?<=\r\n)(Date: [^\r]*|RateLimit: [^\r]*)(?=\r\n)")
"""Of one answer alone: the second it was given in, and what is left of a quota."""
_OF_ONE = ("trace_id", "w3c_trace_id", "duration_s", "provider_s")


class Line(asyncio.Transport):
    """
    The server's side of a connection.

    Attributes:
        told: What was written to the caller.
        closed: The server has ended the connection, or at least its half.
    """

    def __init__(self, make: Callable[[], Front]) -> None:
        super().__init__({"peername": _PEER})
        self.told = bytearray()
        self.closed = False
        self._half_closed = False
        self._reads = True
        self._front = make()
        self._front.connection_made(self)

    @property
    def is_half_closed(self) -> bool:
        """Has the server ended its half, and not yet the caller's?"""
        return self._half_closed

    @property
    def takes(self) -> bool:
        return self._reads and not self.is_closing()

    def take(self, piece: bytes) -> None:
        self._front.data_received(piece)

    def end(self) -> None:
        """Send no more, like a caller who was told that no more answers come."""
        if self._half_closed and not self._front.eof_received():
            self._half_closed = False
            asyncio.get_running_loop().call_soon(self._front.connection_lost, None)

    def hang_up(self) -> None:
        if not self.closed:
            self.abort()

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._front

    def is_closing(self) -> bool:
        return self.closed and not self._half_closed

    def write(self, data: Any) -> None:
        if not self.closed:
            self.told += data

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.closed = self._half_closed = True

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if not self.is_closing():
            self.closed, self._half_closed = True, False
            asyncio.get_running_loop().call_soon(self._front.connection_lost, None)

    def pause_reading(self) -> None:
        self._reads = False

    def resume_reading(self) -> None:
        self._reads = True

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is ever kept."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What came of the bytes of one connection; what is one answer's own is left out.

    Attributes:
        told: Every byte of the answers, interim ones left out.
        closed: Whether the server ended the connection.
        records: What the log says of each request.
        early: How many bytes were told before the last piece was sent.
        taken: How many requests the lane took.
    """

    told: bytes
    closed: bool
    records: tuple[dict[str, Any], ...]
    early: int = field(compare=False)
    taken: int = field(compare=False)

    @property
    def is_refusal(self) -> bool:
        reasons = [each["reason"] for each in self.records]
        return reasons == ["wire"] and self.closed and not self.taken

    @property
    def says_last(self) -> bool:
        """Does the last answer say that no more will come, by the rules of its version?"""
        last = self.told[self.told.rfind(b"HTTP/1.") :]
        kept = [each[1] for each in _CONNECTION.finditer(last)]
        return kept == ([] if last.startswith(b"HTTP/1.0") else [b"close"])

    def is_of(self, whole: Outcome) -> bool:
        """
        Is it the same as when the bytes come at once?

        Who is answered before its request is whole is answered the same, and its connection is
        closed: nothing that is still to come is read as a request. And what is no request spoils
        the sound ones before it in the same segment: aiohttp refuses a segment as a whole, and
        nothing is done for them. Which of two flaws is found first, a cut may change.
        """
        return self == whole or self._is_early(whole) or self._is_spoilt(whole)

    def _is_early(self, whole: Outcome) -> bool:
        answered, count = _CONNECTION.sub(b"", self.told), len(self.records)
        return (
            self.early > 0
            and self.closed
            and self.says_last
            and _CONNECTION.sub(b"", whole.told).startswith(answered)
            and whole.records[:count] == self.records
        )

    def _is_spoilt(self, whole: Outcome) -> bool:
        return (
            whole.is_refusal
            and self.closed
            and bool(self.records)
            and self.records[-1]["reason"] == "wire"
            and (self.told.endswith(whole.told) or self.is_refusal)
        )


@dataclass(slots=True)
class Gateway:
    """
    The public listener of a gateway, reached without sockets.

    Attributes:
        make: Makes what stands before aiohttp, as the listener does for a socket.
        records: Of requests that were answered, since the last connection began.
        reading: Tasks that wait for a body.
        taken: Requests of the last connection that the lane took.
    """

    listener: Listener
    make: Callable[[], Front]
    records: list[AccessRecord] = field(default_factory=list)
    reading: set[asyncio.Task[Any] | None] = field(default_factory=set)
    taken: int = 0

    async def tried(self, pieces: Sequence[bytes]) -> Outcome:
        """
        Send pieces on a connection of their own, wait for what comes of them, and hang up.

        An empty piece waits for what came of those before it.
        """
        self.records.clear()
        self.taken, early = 0, 0
        line = Line(self.make)
        for piece in pieces:
            if not piece or not line.takes:
                await self._quiet(line)
            if piece and line.takes:
                early = len(line.told)
                line.take(piece)
                await asyncio.sleep(0)
        await self._quiet(line)
        if line.is_half_closed:
            line.end()
            await self._quiet(line)
        closed = line.closed
        line.hang_up()
        await settle(2)
        if self.listener.connections.in_flight:
            await self._quiet(line)
        for task in tuple(self.reading):  # what a broken body leaves waiting until it is late
            if task is not None:
                task.cancel()
                await self._quiet(line)
        told, records = _of_one(b"".join(pieces), bytes(line.told), self.records)
        interim = line.told[:early].count(_CONTINUE) * len(_CONTINUE)
        return Outcome(told, closed, records, early - interim, self.taken)

    async def differs(self, cut: Sequence[bytes], whole: Outcome) -> str:
        """Send pieces; say how their result differs from that of the whole."""
        found = await self.tried(cut)
        if found.is_of(whole) or await self._is_of_its_head(b"".join(cut), found, whole):
            return ""
        return f"{[*cut]}\n  in pieces {found}\n  whole {whole}"

    async def _is_of_its_head(self, data: bytes, cut: Outcome, whole: Outcome) -> bool:
        """
        Is what has a flaw behind its head, or its body, answered as what stands before it alone?

        Who sends it in pieces has been answered, or is waited for, when the flaw comes: aiohttp
        does not tell who waits for a body that its framing broke, and drops what comes behind a
        message that asks for another protocol.
        """
        begin = len(data) - len(data.lstrip(b"\r\n"))  # blank lines may precede the head
        end = data.find(b"\r\n\r\n", begin) + 4
        if end < 4 or not whole.is_refusal:
            return False
        length = _LENGTH.search(data, begin, end)
        ends = [end, end + int(length[1])] if length else [end]
        return any([cut == await self.tried([data[:each]]) for each in ends])

    async def _quiet(self, line: Line) -> None:
        """Wait until nothing is served, or only the rest of a body is missing."""
        still, before = 0, None
        while still < TURNS:
            await asyncio.sleep(0)
            now = (len(line.told), line.closed, len(self.records), len(self.reading))
            is_busy = (
                self.listener.connections.in_flight > len(self.reading) and not line.is_half_closed
            )
            still = 0 if is_busy or now != before else still + 1
            before = now


def _of_one(
    sent: bytes, told: bytes, records: Sequence[AccessRecord]
) -> tuple[bytes, tuple[dict[str, Any], ...]]:
    """Leave out what is one answer's own: its second, the rest of a quota, a new trace id."""
    told = told.replace(_CONTINUE, b"")
    for trace_id in _TRACE.findall(told):
        if trace_id not in sent:
            told = told.replace(trace_id, b"-")
    told = _OWN.sub(b"-", told)
    kept = []
    for record in records:
        known = msgspec.structs.asdict(record)
        if record.trace_id.encode("utf-8", "surrogateescape") in sent:
            known["sent"] = record.trace_id
        kept.append({name: value for name, value in known.items() if name not in _OF_ONE})
    if records and records[-1].reason == "wire":
        told = _as_if_of_one_writer(told)
    return told, tuple(kept)


def _as_if_of_one_writer(told: bytes) -> bytes:
    """Sort the lines of a last answer: aiohttp and we write refusals in another order."""
    before, _, last = told.rpartition(b"HTTP/1.")
    head, _, body = last[1:].partition(b"\r\n\r\n")
    return before + b"\r\n".join(sorted(head.split(b"\r\n"))) + b"\r\n\r\n" + body


@asynccontextmanager
async def without_sockets(world: World) -> AsyncIterator[Gateway]:
    """
    Watch a world's gateway; a connection tells how its listener makes others.

    Its bank says the same again to whoever reads the same.
    """
    makes: list[Callable[[], Front]] = []

    def made(*given: Any) -> Front:
        makes.append(partial(Front, *given))
        return makes[-1]()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gateway.net.server.listener, "Front", made)
        await world.call("GET", "/")
    reached = Gateway(world.gateway.public, makes[-1])
    with pytest.MonkeyPatch.context() as patched:
        _watch(reached, patched)
        _remember(patched)
        yield reached


def _watch(reached: Gateway, patched: pytest.MonkeyPatch) -> None:
    read_body, take = gateway.http.server.read_body, Lane.read

    async def read(*given: Any) -> bytes:
        task = asyncio.current_task()
        reached.reading.add(task)
        try:
            return await read_body(*given)
        finally:
            reached.reading.discard(task)

    def told(_observer: TelemetryObserver, record: AccessRecord) -> None:
        if record.surface != "callbacks":  # of the bank
            reached.records.append(record)

    def taken(lane: Lane, data: bytes, peer: Peer) -> WholeRequest | None:
        request = take(lane, data, peer)
        reached.taken += request is not None
        return request

    patched.setattr(gateway.http.server, "read_body", read)
    patched.setattr(TelemetryObserver, "request", told)
    patched.setattr(Lane, "read", taken)


def _remember(patched: pytest.MonkeyPatch) -> None:
    call = HttpTransport.call
    said: dict[str, ProviderAnswer] = {}

    async def asked(
        transport: HttpTransport, request: ProviderRequest, *given: Any
    ) -> ProviderAnswer:
        if request.body:
            return await call(transport, request, *given)
        if request.path not in said:
            said[request.path] = await call(transport, request, *given)
        return said[request.path]

    patched.setattr(HttpTransport, "call", asked)


def ways(data: bytes, places: int = 10) -> Iterator[list[bytes]]:
    """Cut in two at so many places, evenly; then byte by byte."""
    size = len(data)
    for at in sorted({size * number // (places + 1) for number in range(1, places + 1)} - {0}):
        yield [data[:at], data[at:]]
    yield [data[at : at + 1] for at in range(size)]
