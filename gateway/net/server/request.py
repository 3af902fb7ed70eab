"""A request, bounded as it is read; those read ahead wait in order, and only so many."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import Final, Protocol

from aiohttp import hdrs
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import HttpVersion11
from aiohttp.http_parser import HttpRequestParser, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestPayloadError
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gateway.net.server.peer import ServerLimits

# Its method is replaced, because an answer to HEAD has no body.
UNREAD: Final = RawRequestMessage(
    method="UNKNOWN",
    path="/",
    version=HttpVersion11,
    headers=CIMultiDictProxy(CIMultiDict[str]()),
    raw_headers=(),
    should_close=True,
    compression=None,
    upgrade=False,
    chunked=False,
    url=URL("/"),
)
"""Stands for a request that is refused unread; it holds nothing that could be echoed."""


class RequestTimeout(Exception):
    """The request did not arrive in time: 408 ``SVC.GTW.004``."""


class HeadTooLarge(Exception):
    """Request line and headers are together larger than allowed: 431 ``SVC.GTW.007``."""


class BodyTooLarge(Exception):
    """The body is larger than allowed here, declared or not: 413 ``SVC.GTW.003``."""


class MalformedBody(Exception):
    """The body's framing broke after the headers were accepted: 400 ``SVC.VAL.011``."""


class RequestConnection(Protocol):
    """What a request needs of the connection that it came by."""

    address: str
    transport: asyncio.Transport | None

    def send_continue(self) -> None:
        """Send ``100 Continue``."""
        ...

    def certificate(self, headers: CIMultiDictProxy[str]) -> bytes:
        """Return the client's certificate in DER, as we believe it; empty for none."""
        ...

    @property
    def is_last(self) -> bool:
        """Does it take no further request?"""
        ...

    @property
    def stream_deadline_s(self) -> float:
        """How long an answer that is written piece by piece may take."""
        ...

    async def drained(self) -> None:
        """Wait until there is room for more bytes; ConnectionError when the caller is gone."""
        ...

    def reset(self) -> None:
        """Close so that the caller sees an answer that is not whole."""
        ...


class Request:
    """
    What a handler is given; only a connection makes one.

    Attributes:
        path: As sent, percent-encoded, without the query.
        query: As sent, without the question mark; empty when there is none.
        message: The head, as the parser read it.
        content: The body, as far as it has arrived.
        content_length: As declared, in bytes; 0 when none is declared.
        connection: The connection it came by.
        address: The client's, as we believe it; empty when the system does not tell.
    """

    __slots__ = (
        "address",
        "connection",
        "content",
        "content_length",
        "headers",
        "message",
        "method",
        "path",
        "query",
    )

    method: str
    path: str
    query: str
    headers: CIMultiDictProxy[str]
    content_length: int

    def __init__(
        self, message: RawRequestMessage, content: StreamReader, connection: RequestConnection
    ) -> None:
        """
        Read the head.

        Raises:
            ValueError: the target only looks like a URL.
        """
        self.message = message
        self.content = content
        self.connection = connection
        self.address = connection.address
        self.method = message.method
        self.headers = message.headers
        self.content_length = int(message.headers.get(hdrs.CONTENT_LENGTH, 0))
        if message.path.startswith("/"):
            self.path, _, self.query = message.path.partition("?")
        else:
            self.path, self.query = message.url.raw_path, message.url.raw_query_string

    @property
    def is_complete(self) -> bool:
        """Has the whole request arrived, its body included, read or not?"""
        return self.content is EMPTY_PAYLOAD or self.content.is_eof()

    @property
    def certificate(self) -> bytes:
        """The client's certificate in DER, as we believe it; empty for none."""
        return self.connection.certificate(self.headers)

    @property
    def awaits_continue(self) -> bool:
        """Does the caller hold the body back until it gets ``100 Continue``?"""
        if hdrs.EXPECT not in self.headers or self.message.version != HttpVersion11:
            return False
        return [each.lower() for each in self.headers.getall(hdrs.EXPECT)] == ["100-continue"]

    async def read(self, limit_bytes: int, deadline_s: float) -> bytes:
        """
        Read the whole body, once.

        A caller that sent ``Expect: 100-continue`` gets its ``100 Continue`` only here.
        If it is answered before this call, it need not send the body.

        Raises:
            BodyTooLarge: over ``limit_bytes``; a declared length is refused unread.
            RequestTimeout: not complete ``deadline_s`` seconds after this call.
            MalformedBody: a chunk is malformed.
            ConnectionError: the caller hung up; nobody waits for an answer.
        """
        if self.content_length > limit_bytes:
            raise BodyTooLarge
        content = self.content
        if content.total_bytes and content.is_eof() and content.exception() is None:
            if content.total_bytes > limit_bytes:
                raise BodyTooLarge
            return content.read_nowait()  # as of most: nothing is waited for
        try:
            async with asyncio.timeout(deadline_s):
                self.send_continue()
                return await _collect(content, limit_bytes)
        except TimeoutError as problem:
            raise RequestTimeout from problem
        except RequestPayloadError as problem:
            raise MalformedBody from problem

    def send_continue(self) -> None:
        """Send ``100 Continue`` to a caller that holds its body back and has sent none of it."""
        if self.awaits_continue and not self.content.total_bytes:
            self.connection.send_continue()


async def _collect(content: StreamReader, limit_bytes: int) -> bytes:
    body = bytearray()
    async for piece in content.iter_any():
        body += piece
        if len(body) > limit_bytes:
            raise BodyTooLarge
    return bytes(body)


_END_OF_HEADERS: Final = b"\r\n\r\n"
# Bytes of a body that are read before the application asks: one read of a socket.
_BODY_AHEAD: Final = 65536
# Pipelined requests that wait at most; callers rarely send two. Each may hold a whole head,
# so this is what somebody can make us keep who takes no answers.
_LONGEST: Final = 4
# Of a request line, between its words and at its end; of a header, after its name and its value.
_LINE_REST: Final = len("  HTTP/1.1\r\n")
_HEADER_REST: Final = len(": \r\n")
# Most heads have some hundred bytes; longer ones are not worth the memory.
_LONGEST_KEPT: Final = 4096
Item = tuple[RawRequestMessage | Exception, StreamReader]
"""A request whose head is complete, with its body; or the error that ended reading."""


def make_parser(
    protocol: BaseProtocol, loop: asyncio.AbstractEventLoop, limits: ServerLimits
) -> HttpRequestParser:
    """Make the parser of one connection, within its limits; bodies stay encoded as they came."""
    return HttpRequestParser(
        protocol,
        loop,
        _BODY_AHEAD,
        max_line_size=limits.request_line_bytes,
        max_field_size=limits.header_line_bytes,
        max_headers=limits.headers,
        payload_exception=RequestPayloadError,
        auto_decompress=False,
        max_msg_queue_size=_LONGEST,
    )


class RequestQueue:
    """
    Turns bytes into requests, until the framing is lost.

    Callers often ask for the same again. Bytes that were a request without a body are the
    same request if they follow it at once, and are not parsed anew. They are kept no longer
    than the parser keeps what it has read last.

    Attributes:
        waiting: Read and not yet started, in order.
        has_partial: Bytes of another request have come, and its head is not complete.
        closed: Nothing more is read: the framing is lost, or the connection ends.
    """

    __slots__ = (
        "_begun_bytes",
        "_ended_at_head",
        "_former",
        "_former_bytes",
        "_head_bytes",
        "_last",
        "_parser",
        "closed",
        "has_partial",
        "waiting",
    )

    def __init__(self, parser: HttpRequestParser, head_bytes: int) -> None:
        """Start empty; a head has ``head_bytes`` at most."""
        self.waiting: deque[Item] = deque()
        self.has_partial = False
        self.closed = False
        self._parser = parser
        self._head_bytes = head_bytes
        # Of a head that is not complete, as far as they are known to be of it.
        self._begun_bytes = 0
        self._last: StreamReader = EMPTY_PAYLOAD
        self._ended_at_head = True
        self._former: Item | None = None
        self._former_bytes = b""

    @property
    def is_full(self) -> bool:
        """Are there as many waiting as may be?"""
        return len(self.waiting) >= _LONGEST

    @property
    def has_room(self) -> bool:
        """Is at least half of it free, so that reading on is worth it?"""
        return len(self.waiting) * 2 <= _LONGEST

    def feed(self, data: bytes) -> bool:
        """
        Read on, or resume what was held back; return whether there is more to answer.

        Input that cannot be read is refused in its turn, and nothing after it is read.
        """
        if self._former is not None and data == self._former_bytes:
            self.waiting.append(self._former)
            return True
        was_between = self._is_between() and not self.waiting
        has_more = self._parse(data)
        # without data it is one that was held back, and its bytes are not known
        is_alone = was_between and self._is_between() and len(self.waiting) == 1 and data != b""
        keeps = is_alone and len(data) <= _LONGEST_KEPT
        self._former, self._former_bytes = (self.waiting[0], data) if keeps else (None, b"")
        return has_more

    def _is_between(self) -> bool:
        """Say whether a whole request without a body has ended, and nothing was read after it."""
        return self._last is EMPTY_PAYLOAD and self._ended_at_head and not self.has_partial

    def _parse(self, data: bytes) -> bool:
        """Let the parser read on; return whether there is more to answer."""
        in_body = self._last is not EMPTY_PAYLOAD and not self._last.is_eof()
        try:
            heads, is_upgraded, rest = self._parser.feed_data(data)
        except Exception as problem:  # noqa: BLE001 - a fault of the parser must end in an answer
            self.refuse(problem)
            return True
        if data:
            self._ended_at_head = data.endswith(_END_OF_HEADERS)
        if heads:
            self._add(heads, data)
        elif not in_body or self.has_partial:
            # Blank lines before a request are allowed, and are no request yet.
            self.has_partial = self.has_partial or bool(data.strip(b"\r\n"))
            self._begin(len(data))
        if self.closed:
            return True
        if is_upgraded:
            # Asked for and not granted: what follows is a request like any other.
            self._parser.set_upgraded(False)
            return self._parse(rest) or bool(heads)
        return bool(heads)

    def take(self) -> Item:
        """Remove and return what has waited longest."""
        self._parser.message_consumed()
        return self.waiting.popleft()

    def refuse(self, problem: Exception) -> None:
        """Queue a refusal after what waits, and read nothing more."""
        self.waiting.append((problem, EMPTY_PAYLOAD))
        self.close(MalformedBody())

    def close(self, problem: Exception) -> None:
        """Read nothing more; a handler that waits for the rest of a body gets ``problem``."""
        self.closed = True
        self.has_partial = False
        if not self._last.is_eof():
            self._last.set_exception(problem)

    def release_parser(self) -> None:
        """Drop the parser: it refers to the connection, which refers to this queue."""
        del self._parser

    def _begin(self, size: int) -> None:
        """Count bytes of a head that is not complete; refuse one that is too large already."""
        self._begun_bytes = self._begun_bytes + size if self.has_partial else 0
        if self._begun_bytes > self._head_bytes:
            self.refuse(HeadTooLarge())

    def _add(self, heads: Sequence[Item], data: bytes) -> None:
        """
        Queue requests, and note whether another one begins after the last.

        A head that is too large is refused in its turn. Few are measured: most come in fewer
        bytes than a head may have. Of those that were held back, and of one that began in the
        segment of a body's end, the bytes are not known.

        Bytes of a next request in the same segment as the end of a body cannot be
        told from that body; they count as idle until more arrive.
        """
        after_body = self._last is not EMPTY_PAYLOAD
        self._last = heads[-1][1]
        if after_body or not data or self._begun_bytes + len(data) > self._head_bytes:
            sound = list(takewhile(lambda item: _size(item[0]) <= self._head_bytes, heads))
            if len(sound) < len(heads):
                self.waiting.extend(sound)
                self.refuse(HeadTooLarge())
                return
        self.waiting.extend(heads)
        self.has_partial = self._last is EMPTY_PAYLOAD and not self._ended_at_head
        self._begun_bytes = 0
        if self.has_partial:
            self._begin(len(data.rpartition(_END_OF_HEADERS)[2]))


def _size(head: RawRequestMessage | Exception) -> int:
    """Return how many bytes a head had."""
    if isinstance(head, Exception):
        return 0
    line = len(head.method) + len(head.path) + _LINE_REST
    lines = sum(len(name) + len(value) + _HEADER_REST for name, value in head.raw_headers)
    return line + lines + len("\r\n")
