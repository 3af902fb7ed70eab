"""Bytes into requests: those read ahead wait in order, and only so many."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_parser import HttpRequestParser, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestPayloadError

from gateway.net.server.peer import ServerLimits
from gateway.net.server.request import HeadTooLarge, MalformedBody

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
