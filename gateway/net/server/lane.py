"""
Plain requests that came whole: read by llhttp, answered with one write.

aiohttp's web layer takes a third of a balance's time. Requests that partners send most do not go
through it. The lane serves or passes on and never refuses: aiohttp gets other requests byte
for byte.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Final

from aiohttp import hdrs, web
from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.net.server.peer import Peer, ServerLimits
from gateway.net.server.refusals import SERVER
from gateway.net.server.soundness import is_host

LARGEST_BYTES: Final = 8 * 1024
_HEAD_END: Final = b"\r\n\r\n"
_PRINTABLE: Final = bytes(range(0x20, 0x7F))
_LINE_END: Final = b"\r\n"
_NO_VALUE: Final = re.compile(rb"\n[^:\n]*:\r\n")
"""A header without a value; values that end in a colon are signatures (RFC 8941, 3.3.5)."""
_ODD: Final = frozenset(
    {
        *("transfer-encoding", "te", "trailer", "expect", "upgrade", "http2-settings"),
        *("keep-alive", "proxy-connection", "content-encoding", "sec-websocket-key1"),
    }
)
_STATUS: Final = {each.value: f"HTTP/1.1 {each.value} {each.phrase}\r\n" for each in HTTPStatus}


@dataclass(slots=True, eq=False)
class WholeRequest:
    """A request that is complete, with the names that aiohttp's has for the same."""

    method: str
    raw_path: str
    headers: CIMultiDictProxy[str]
    body: bytes
    peer: Peer


Request = web.BaseRequest | WholeRequest


def is_whole(request: Request) -> bool:
    """Return whether all bytes of the request have arrived."""
    return isinstance(request, WholeRequest) or request.content.is_eof()


@dataclass(slots=True, eq=False)
class Reply:
    """An answer; the body is None where there is none, or where it follows in pieces."""

    status: int
    headers: MutableMapping[str, str]
    body: bytes | None = None


class Lane:
    """
    Reads the plain requests of every connection of a listener.

    Attributes:
        answer: Serves a request; any error of it is a failure of ours.
    """

    def __init__(self, prefix: str, answer: Callable[[WholeRequest], Awaitable[Reply]]) -> None:
        """``prefix`` is how the targets begin that it takes: no answer to them has pieces."""
        self.answer = answer
        self._line = re.compile(
            rb'(GET|POST) (%s[!"$-~]*) HTTP/1\.1\r\n' % re.escape(prefix.encode())
        )
        self._parser = HttpRequestParser(self)
        self._pairs: list[tuple[str, str]] = []
        self._messages = 0

    def read(self, data: bytes, peer: Peer) -> WholeRequest | None:
        """
        Return the one plain request that is all of ``data``; None leaves the bytes to aiohttp.

        Called only for a connection between two requests; ``Front`` keeps track.

        | Left to aiohttp | Because |
        | --- | --- |
        | other methods and surfaces, HTTP/1.0, a target with a fragment or odd bytes | rare, or \
          answered in pieces |
        | a head without its end, a body cut short, a byte behind it | the request is not whole |
        | a head above the least of its bounds, more than 8 KB, too many headers | ``find_flaw`` \
          and aiohttp measure, and refuse |
        | in the head other bytes than visible ASCII and spaces; a line that ends in a space, a \
          header without a value | readers strip and decode these in different ways |
        | bytes that llhttp does not read as one message | it is refused once, by aiohttp |
        | a name twice; no Host, or one that is no host | readers choose different ones |
        | a length with GET, none with POST, one not written as the body's is | framing |
        | ``Connection`` but keep-alive, and names of ``_ODD`` | more than an answer is asked for |
        """
        found = self._line.match(data)
        head = data[: data.find(_HEAD_END) + len(_HEAD_END)]
        if found is None or len(data) > LARGEST_BYTES or not _is_plain(head, peer.limits):
            return None
        method, body = found[1].decode(), data[len(head) :]
        is_read = method == hdrs.METH_GET
        headers = self._parse(data, None if is_read else str(len(body)))
        if headers is None or (is_read and body):
            self._parser = HttpRequestParser(self)  # it holds something, or reads no more
            return None
        return WholeRequest(method, found[2].decode(), CIMultiDictProxy(headers), body, peer)

    def _parse(self, data: bytes, length: str | None) -> CIMultiDict[str] | None:
        """Return the headers of a plain message that is all of ``data``, with this length."""
        pairs = self._pairs = []
        self._messages = 0
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            return None
        headers = CIMultiDict(pairs)
        names = {name.lower() for name, _ in pairs}
        is_plain = (
            self._messages == 1
            and headers.get(hdrs.CONTENT_LENGTH) == length
            and len(names) == len(pairs)
            and names.isdisjoint(_ODD)
            and headers.get(hdrs.CONNECTION, "keep-alive").lower() == "keep-alive"
            and hdrs.HOST in headers
            and is_host(headers[hdrs.HOST])
        )
        return headers if is_plain else None

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header from the parser."""
        self._pairs.append((name.decode(), value.decode()))

    def on_message_complete(self) -> None:
        """Count a message that the parser has read to its end."""
        self._messages += 1


def _is_plain(head: bytes, limits: ServerLimits) -> bool:
    """Return whether the head's lines end unambiguously for every reader, within all bounds."""
    lines = head.count(_LINE_END)
    return (
        head.endswith(_HEAD_END)
        and len(head) <= min(limits.head_bytes, limits.header_line_bytes, limits.request_line_bytes)
        and lines - 2 <= limits.headers  # the request's own, and the empty one
        and head.translate(None, _PRINTABLE) == _LINE_END * lines
        and b" \r\n" not in head
        and not (b":\r\n" in head and _NO_VALUE.search(head))
    )


def to_bytes(reply: Reply, *, is_last: bool) -> bytes:
    """
    Write an answer as aiohttp does, its headers in the same order.

    Raises:
        ValueError: a header has several lines, which is a mistake of ours.
    """
    body = reply.body or b""
    fields = "".join([f"{name}: {value}\r\n" for name, value in reply.headers.items()])
    if not fields.count("\r") == fields.count("\n") == len(reply.headers):
        problem = "a header of several lines"
        raise ValueError(problem)
    close = "Connection: close\r\n" if is_last else ""
    return (
        f"{_STATUS[reply.status]}{fields}Server: {SERVER}\r\nContent-Length: {len(body)}\r\n"
        f"Date: {_date(int(time.time()))}\r\n{close}\r\n"
    ).encode() + body


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
