"""
Between sockets and aiohttp: the limits of all connections, and the protocol of each.

aiohttp reads requests and writes answers. It does not know a PROXY header, a cap on
connections, a deadline for a head, a bound on a whole head, or a caller who takes no answer.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from http import HTTPStatus
from typing import Final, cast

from aiohttp import hdrs, web

from gateway.core.catalogue import ErrorCode
from gateway.core.errors import (
    DRAINING,
    HEADERS_TOO_LARGE,
    INTERNAL,
    MALFORMED_REQUEST,
    REQUEST_TIMEOUT,
)
from gateway.core.networks import network
from gateway.net.common.descriptors import descriptor_of
from gateway.net.common.runtime import LazyTimer
from gateway.net.server.lane import Lane, Reply, Request, WholeRequest, is_whole
from gateway.net.server.lane import to_bytes as whole_answer
from gateway.net.server.peer import Peer, ServerLimits, is_within, without_mapping
from gateway.net.server.proxy_protocol import MalformedProxyHeader, read_proxy_header
from gateway.net.server.refusals import Refusal, Refusals, to_bytes
from gateway.net.server.soundness import find_fault, find_flaw

_HEAD_END: Final = b"\r\n\r\n"
_LINE_END: Final = b"\r\n"
_TWO_BLANKS: Final = b"  "
"""In a request line: aiohttp reads them as one, and others as an empty target (RFC 9112, 3)."""
_OTHER_PROTOCOL: Final = re.compile(rb" (?:RTSP|ICE)/\d\.\d$")
"""aiohttp takes it for HTTP."""
_OLD: Final = b" HTTP/1.0"
_CLOSES: Final = re.compile(rb"\r\n(?:proxy-)?connection:[^\r\n]*\bclose\b", re.IGNORECASE)
_NO_LINGER: Final = struct.pack("ii", 1, 0)
"""Closing drops what was not sent, and resets the connection (socket(7), SO_LINGER)."""

_UNTAKEN_BYTES: Final = 32 * 1024
"""Of answers that a caller has not taken; with more, its next request waits, and it is timed."""
_NEVER_S: Final = 365 * 24 * 3600.0

_silent: Final = logging.getLogger("gateway.net.server.aiohttp")
_silent.disabled = True
"""aiohttp's own lines quote what callers send; failures of ours are logged where they arise."""


class Connections:
    """
    Limits and counts of connections.

    Attributes:
        draining: Set once. From then on new requests are refused with
            ``SVC.GTW.006`` and every answer ends its connection.
        turned_away: Connections closed on arrival since the start, by reason:
            ``full`` (too many in all), ``address`` (too many of one network),
            ``descriptors`` (this process may not open many more files),
            ``peer`` (not from one of our proxies).
        in_flight: Requests that are served now.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self.limits = limits
        self.draining = False
        self.turned_away: Counter[str] = Counter()
        self._open: dict[Front, str] = {}  # with the place that each counts under
        self.in_flight = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._by_place: Counter[str] = Counter()

    @property
    def open_connections(self) -> int:
        """Number of open connections, including connections being closed."""
        return len(self._open)

    def admit(self, front: Front, descriptor: int = -1) -> bool:
        """Count a new connection; False if there is no room for it."""
        if descriptor >= self.limits.descriptors:
            self.turned_away["descriptors"] += 1
            return False
        if len(self._open) >= self.limits.connections:
            self.turned_away["full"] += 1
            return False
        return self._is_counted(front, front.peer.address)

    def release(self, front: Front) -> None:
        """Uncount a connection; one that was not admitted does not count."""
        place = self._open.pop(front, None)
        if place is not None:
            self._by_place[place] -= 1
            if not self._by_place[place]:
                del self._by_place[place]

    def reassign(self, front: Front, address: str) -> bool:
        """Count a connection for the client that a proxy named; False if it has too many."""
        if not self._is_counted(front, address):
            return False
        front.peer.address = address
        return True

    def begin_request(self) -> None:
        """Count a request that is served."""
        self.in_flight += 1
        self._is_idle.clear()

    def end_request(self) -> None:
        """Subtract an ended request from the requests in flight."""
        self.in_flight -= 1
        if not self.in_flight:
            self._is_idle.set()

    async def wait_idle(self, timeout_s: float) -> bool:
        """Wait until no request is in flight; False if ``timeout_s`` was not enough."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._is_idle.wait()
        return not self.in_flight

    async def cancel(self, grace_s: float) -> None:
        """Cancel the lane's request, and let it end."""
        cancelled = [task for front in self._open if (task := front.cancel()) is not None]
        if cancelled:
            await asyncio.wait(cancelled, timeout=grace_s)

    def abort(self) -> None:
        """Close every connection at once; unsent bytes are lost."""
        for front in tuple(self._open):
            front.abort()

    def _place(self, address: str) -> str:
        """
        Return the counting key of an address: its network; one of our proxies by itself.

        Else who has a /64 of IPv6 would have as many connections as addresses, and a proxy
        would use up its neighbours' places.
        """
        is_proxy = ":" in address and is_within(address, self.limits.trusted_peers)
        return address if is_proxy else network(address)

    def _is_counted(self, front: Front, address: str) -> bool:
        """Count under an address, unless it has its maximum; our proxies may have more."""
        place = self._place(address)
        if self._by_place[place] >= self.limits.connections_per_address and not is_within(
            place, self.limits.trusted_peers
        ):
            self.turned_away["address"] += 1
            return False
        self.release(front)
        self._open[front] = place
        self._by_place[place] += 1
        return True


class Front(asyncio.Protocol):
    """
    The protocol of one accepted socket.

    Attributes:
        limits: Those at its start.
    """

    def __init__(
        self,
        connections: Connections,
        runner: web.AppRunner,
        refusals: Refusals,
        lane: Lane | None = None,
    ) -> None:
        self._connections = connections
        self.limits = connections.limits
        self.peer = Peer("", self.limits)
        self._refusals = refusals
        self._runner = runner
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._handler: _Handler | None = None
        # Bytes of a PROXY header that is not complete; None where there is none to come.
        source = self.limits.client_address
        self._proxy_header = bytearray() if source == "proxy_protocol" else None
        # What has come of a head whose end has not; None behind its end.
        self._head: bytearray | None = bytearray()
        self._last_head = self._head  # until aiohttp has read it
        # Of the last head: its most bytes, its length, and the bytes behind a last request.
        self._head_bytes = self._head_length = self._behind_last = 0
        self._request: Request | None = None  # the one that is served
        # None as soon as aiohttp may hold a part of a request that is not served yet.
        self._lane = lane
        self._handed_on = 0  # bytes that aiohttp has had since it held none
        self._serving: asyncio.Task[None] | None = None  # what the lane serves
        self._refusing: asyncio.Task[None] | None = None
        self._held: list[bytes] = []  # came behind it, for aiohttp
        self._timer = LazyTimer(self._loop, self._on_late)
        self._stall_timer = LazyTimer(self._loop, self.reset)
        self._room = asyncio.Event()
        self._room.set()
        self._has_ended = asyncio.Event()  # the caller sends no more
        self._discards = self._has_served = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start, or disconnect at once if there is no room."""
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.peer = Peer(without_mapping(str(peer[0])) if peer else "", self.limits)
        if not self._connections.admit(self, descriptor_of(transport)):
            self.abort()
            return
        self._transport.set_write_buffer_limits(high=_UNTAKEN_BYTES)
        self._timer.set_in(self.limits.header_deadline_s)
        if self._proxy_header is not None and not self.peer.is_proxy:
            self._connections.turned_away["peer"] += 1
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and free the slot; a request being served continues."""
        self._discards = True
        self._timer.dispose()
        self._stall_timer.dispose()
        self._room.set()
        self._has_ended.set()
        self._connections.release(self)
        if self._handler is not None:
            self._handler.connection_lost(exc)
        self._transport = self._handler = None

    def data_received(self, data: bytes) -> None:
        """Read a PROXY header first, then requests; after a last answer, nothing."""
        if self._proxy_header is not None:
            data = self._after_proxy_header(self._proxy_header, data)
        if self._discards or not data:
            return
        if self._lane is not None and self._take(self._lane, data):
            return
        if self._request is not None and self._head is None and is_whole(self._request):
            self._head = bytearray()  # of the request after the one that is served
        if self._head is None:
            self._head_bytes = self.limits.head_bytes  # a body, and there may be heads behind it
        elif (error := self._read_head(self._head, data)) is not None:
            self._discards = True
            if self._request is None:  # else its answer comes first, and is the last
                self._refuse_head(error)
            return
        self._hand_on(data)

    def _hand_on(self, data: bytes) -> None:
        """In one piece with bytes behind it, aiohttp would refuse a last request that is whole."""
        behind, self._behind_last = self._behind_last, 0
        pieces = (data[:-behind], data[-behind:]) if behind else (data,)
        if self._serving is None:
            self._hand_over(pieces)
        elif self._transport is not None:
            self._held += pieces
            self._transport.pause_reading()

    def _hand_over(self, pieces: Iterable[bytes]) -> None:
        """Give bytes to aiohttp; the first ones open its connection."""
        for piece in pieces:
            if self._transport is None or self._runner.server is None:
                return
            if self._handler is None:
                self._handler = _Handler(self, self._runner, self._refusals)
                self._handler.connection_made(self._transport)
                if not self._room.is_set():
                    self._handler.pause_writing()
            self._handed_on += len(piece)
            self._handler.data_received(piece)

    def _take(self, lane: Lane, data: bytes) -> bool:
        """Serve a plain request that came whole between two others; else return False."""
        is_between = self._request is None and not self._handed_on
        if not is_between or self._connections.draining or not self._room.is_set():
            return False
        request = lane.read(data, self.peer)
        if request is None:
            return False
        self._count(request)
        self._serving = self._loop.create_task(self._serve(lane, request))
        return True

    async def _serve(self, lane: Lane, request: WholeRequest) -> None:
        """Answer a request of the lane, and hand on the bytes after it."""
        try:
            self._write(await lane.answer(request))
        except Exception:  # noqa: BLE001 - where it arose it was logged
            await self._refuse(INTERNAL)
        finally:
            self._serving = None
            self.end_request()
            held, self._held = self._held, []
            if held and self._transport is not None and not self._discards:
                self._transport.resume_reading()
                self._hand_over(held)

    def _write(self, reply: Reply) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        is_last = self.is_last
        self._transport.write(whole_answer(reply, is_last=is_last))
        if is_last:
            self._discards = True
            self._transport.close()

    def cancel(self) -> asyncio.Task[None] | None:
        """Cancel and return the lane's request; bytes after it are not served."""
        self._held.clear()
        if self._serving is not None:
            self._serving.cancel()
        return self._serving

    def eof_received(self) -> bool:
        """Keep our half open for a caller who has sent a whole request and waits for the answer."""
        self._has_ended.set()
        if self._request is None:
            return self._head is None and not self._discards
        return is_whole(self._request) and not self._discards

    def pause_writing(self) -> None:
        """Start the deadline of a caller who does not take an answer."""
        self._room.clear()
        self._stall_timer.set_in(self.limits.answer_deadline_s)
        if self._handler is not None:
            self._handler.pause_writing()

    def resume_writing(self) -> None:
        """Continue: the caller takes its answer."""
        self._room.set()
        self._stall_timer.clear()
        if self._handler is not None:
            self._handler.resume_writing()

    def abort(self) -> None:
        """Close at once; unsent bytes are lost."""
        self._discards = True
        if self._transport is not None:
            self._transport.abort()

    def reset(self) -> None:
        """Close by a reset, not by an end: without chunks, an end would look like a whole body."""
        if self._transport is None:
            return
        sock = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self._transport.abort()

    def _after_proxy_header(self, received: bytearray, data: bytes) -> bytes:
        """
        Read on in a PROXY header; return the bytes after it.

        A connection that begins with anything else is closed without an answer, since its client is
        unknown.
        """
        received += data
        try:
            header = read_proxy_header(bytes(received))
        except MalformedProxyHeader:
            self.abort()
            return b""
        if header is None:
            return b""
        self._proxy_header = None
        address, rest = header
        if address and not self._connections.reassign(self, address):
            self.abort()
            return b""
        return rest

    def _read_head(self, head: bytearray, data: bytes) -> ErrorCode | None:
        """
        Read on in a head; return a fault that aiohttp does not find.

        Its deadline runs from the connection's start, or from the first byte of a later one.
        """
        self._last_head = head
        before = len(head)
        head += data if before else data.lstrip(b"\r\n")  # blank lines may precede it
        end = head.find(_HEAD_END, max(before - len(_HEAD_END) + 1, 0))
        length = len(head) if end < 0 else end + len(_HEAD_END)
        if length > self.limits.head_bytes:
            return HEADERS_TOO_LARGE
        if end >= 0:
            self._head, self._head_bytes, self._head_length = None, len(head), length
            self._timer.clear()
            line = head[: head.index(_LINE_END)]
            if _TWO_BLANKS in line or _OTHER_PROTOCOL.search(line):
                return MALFORMED_REQUEST
            behind = len(head) - length
            if behind and (line.endswith(_OLD) or _CLOSES.search(head, 0, length)):
                self._behind_last = behind
        elif head and not before and self._has_served and self._request is None:
            self._timer.set_in(self.limits.header_deadline_s)
        return None

    def _on_late(self) -> None:
        """Refuse an incomplete head with 408; close a connection on which nothing came."""
        if self._transport is None:
            return
        if self._transport.get_write_buffer_size():
            self.abort()  # its answer was never taken: closing would wait for that
        elif self._head:
            self._refuse_head(REQUEST_TIMEOUT)
        else:
            self._transport.close()

    def _refuse_head(self, error: ErrorCode) -> None:
        self._discards = True
        self._timer.clear()
        self._refusing = self._loop.create_task(self._refuse(error))

    async def _refuse(self, error: ErrorCode, method: str = "") -> None:
        """Write a refusal in the place of aiohttp, and close; nothing more is read."""
        answer = self._refusals.answer(error)
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(to_bytes(answer, is_bodiless=method == hdrs.METH_HEAD))
        await self.linger()
        if self._transport is not None:
            self._transport.close()

    @property
    def is_last(self) -> bool:
        """Return whether the connection takes no further request."""
        return self._connections.draining or self._has_ended.is_set() or self._discards

    @property
    def is_refusing(self) -> bool:
        """Return whether a head was refused here; aiohttp may refuse its first part as well."""
        return self._refusing is not None

    def begin_request(self, request: web.BaseRequest) -> Awaitable[None] | None:
        """
        Count a request; call ``end_request`` once it has been answered.

        Returns:
            None when it is counted, else an awaitable: until the caller has taken the answer
            before it. That raises ConnectionError for a request that was refused and is not to be
            answered: two readers might read it differently, or the listener is being closed.
        """
        self._head, self._last_head = None, bytearray()
        self._timer.clear()
        error = find_flaw(request, self.limits, self._head_bytes)
        if error is not None or self._connections.draining or not self._room.is_set():
            return self._begin_late(request, error)
        self._count(request)
        return None

    def _count(self, request: Request) -> None:
        self._has_served = True
        self._timer.clear()
        self._request = request
        self._connections.begin_request()

    async def _begin_late(self, request: web.BaseRequest, error: ErrorCode | None) -> None:
        """Wait for the answer before, then count the request or refuse it."""
        await self._room.wait()
        if error is None and self._connections.draining:
            error = DRAINING
        if error is not None:
            await self._refuse(error, request.method)
            problem = "refused"
            raise ConnectionResetError(problem)
        self._count(request)

    def find_fault(self) -> ErrorCode:
        """Return why aiohttp could not parse the last data."""
        return find_fault(bytes(self._last_head), self.limits)

    def end_request(self, *, is_last: bool = False) -> None:
        """
        Subtract an ended request, and expect the next head, part of which may have come already.

        Args:
            is_last: The answer ends the connection. aiohttp closes it a turn of the loop later.
        """
        self._discards |= is_last
        if self._handed_on:
            self._look_behind(cast("web.BaseRequest", self._request))
        self._request = None
        self._connections.end_request()
        if self._head is None:
            self._head = bytearray()
        if self._transport is not None:
            is_begun, limits = bool(self._head), self.limits
            self._timer.set_in(limits.header_deadline_s if is_begun else limits.keepalive_s)

    def _look_behind(self, request: web.BaseRequest) -> None:
        """
        Close the lane for good unless aiohttp was given this request and not a byte more.

        Its bytes may be the begin of another request, and the next bytes a part of that.
        Of a body in chunks we do not know the length.
        """
        length = self._head_length + int(request.headers.get(hdrs.CONTENT_LENGTH, 0))
        if is_whole(request) and self._handed_on == length:
            self._handed_on = 0
        else:
            self._lane = None

    async def linger(self) -> None:
        """
        Close our half, and discard for a moment bytes that the caller still sends.

        Closing with unread bytes would reset the connection, and the caller might lose
        the answer.
        """
        self._discards = True
        if self._transport is None or self._transport.is_closing():
            return
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._transport.resume_reading()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_ended.wait(), self.limits.linger_s)


class _Handler(web.RequestHandler):
    """Reads requests as aiohttp does, and refuses malformed ones as we do."""

    def __init__(self, front: Front, runner: web.AppRunner, refusals: Refusals) -> None:
        limits = front.limits
        super().__init__(
            cast("web.Server", runner.server),
            loop=asyncio.get_running_loop(),
            logger=_silent,
            access_log=_silent,
            keepalive_timeout=_NEVER_S,  # ``Front`` ends idle connections
            lingering_time=0,  # ``Front`` does
            max_line_size=limits.request_line_bytes,
            max_field_size=limits.header_line_bytes,
            max_headers=limits.headers,
            auto_decompress=False,
        )
        self._front = front
        self._refusals = refusals

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """
        Answer with our body; nothing of the request is echoed or logged.

        Raises:
            ConnectionError: the caller is gone.
        """
        if isinstance(exc, ConnectionError):
            raise exc
        if self._front.is_refusing:
            raise ConnectionResetError
        is_unreadable = status == HTTPStatus.BAD_REQUEST
        answer = self._refusals.answer(self._front.find_fault() if is_unreadable else INTERNAL)
        return _LastResponse(self._front, answer)


class _LastResponse(web.Response):
    """Ends its connection so that the caller reads it."""

    def __init__(self, front: Front, refusal: Refusal) -> None:
        headers = {**refusal.headers, hdrs.CONNECTION: "close"}
        super().__init__(status=refusal.status, body=refusal.body, headers=headers)
        self._front = front
        self.force_close()

    async def write_eof(self, data: bytes = b"") -> None:
        """Write all of it, and wait for the caller to stop sending."""
        await super().write_eof(data)
        await self._front.linger()
