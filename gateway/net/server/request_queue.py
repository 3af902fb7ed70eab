"""What a caller sent and nobody has begun to answer: requests read ahead, in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final

from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_parser import HttpRequestParser, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestPayloadError

from gateway.net.server.body import MalformedBody
from gateway.net.server.limits import WireLimits

_END_OF_HEADERS: Final = b"\r\n\r\n"
_BODY_AHEAD: Final = 65536
_MOST: Final = 32

Turn = tuple[RawRequestMessage | Exception, StreamReader]
"""A request whose head is complete, with its body; or what keeps it from being one."""


def make_parser(
    protocol: BaseProtocol, loop: asyncio.AbstractEventLoop, limits: WireLimits
) -> HttpRequestParser:
    """Make the parser of one connection, within its limits; a body stays coded as it came."""
    return HttpRequestParser(
        protocol,
        loop,
        _BODY_AHEAD,
        max_line_size=limits.request_line_bytes,
        max_field_size=limits.header_line_bytes,
        max_headers=limits.headers,
        payload_exception=RequestPayloadError,
        auto_decompress=False,
        max_msg_queue_size=_MOST,
    )


class Inbox:
    """
    Turns bytes into requests, until they are lost track of.

    Attributes:
        waiting: Read and not begun, in order.
        begun: A byte of a further request has come, and its head is not complete.
        deaf: Nothing more is read: the framing is lost, or the connection ends.
    """

    __slots__ = ("_last", "_parser", "_rounded_off", "begun", "deaf", "waiting")

    def __init__(self, parser: HttpRequestParser) -> None:
        """Begin with nothing."""
        self.waiting: deque[Turn] = deque()
        self.begun = False
        self.deaf = False
        self._parser = parser
        self._last: StreamReader = EMPTY_PAYLOAD
        self._rounded_off = True

    @property
    def is_full(self) -> bool:
        """Is as much waiting as may be?"""
        return len(self.waiting) >= _MOST

    @property
    def has_room(self) -> bool:
        """Is it worth while to read on?"""
        return len(self.waiting) * 2 <= _MOST

    def feed(self, data: bytes) -> bool:
        """
        Read on, or take up again what was held back; is there more to answer than before?

        What cannot be read is to be refused in its turn, and nothing behind it is read.
        """
        in_body = not self._last.is_eof()
        try:
            heads, is_upgraded, rest = self._parser.feed_data(data)
        except Exception as problem:  # noqa: BLE001 - a fault of the parser must end in an answer
            self.refuse(problem)
            return True
        if data:
            self._rounded_off = data.endswith(_END_OF_HEADERS)
        if heads:
            self._take_in(heads)
        elif not (in_body or self.begun):
            # Blank lines before a request are allowed, and no request yet.
            self.begun = bool(data.strip(b"\r\n"))
        if is_upgraded:
            # Asked for and not granted: what follows is a request like any other.
            self._parser.set_upgraded(False)
            return self.feed(rest) or bool(heads)
        return bool(heads)

    def take(self) -> Turn:
        """Hand out what has waited longest."""
        self._parser.message_consumed()
        return self.waiting.popleft()

    def refuse(self, problem: Exception) -> None:
        """Have a refusal answered behind what waits, and hear nothing more."""
        self.waiting.append((problem, EMPTY_PAYLOAD))
        self.close(MalformedBody())

    def close(self, problem: Exception) -> None:
        """Hear nothing more; who reads a body that is not complete gets ``problem``."""
        self.deaf = True
        self.begun = False
        if not self._last.is_eof():
            self._last.set_exception(problem)

    def let_go(self) -> None:
        """Hold the parser no longer: it holds the connection, which holds us."""
        del self._parser

    def _take_in(self, heads: Sequence[Turn]) -> None:
        """
        Keep requests. Does a further one begin behind the last?

        Bytes of a next request in the same segment as the end of a body cannot be
        told from that body; they count as idle until more come.
        """
        self.waiting.extend(heads)
        self._last = heads[-1][1]
        self.begun = self._last is EMPTY_PAYLOAD and not self._rounded_off
