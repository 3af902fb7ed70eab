"""A request, checked and bounded as it is read."""

from __future__ import annotations

import asyncio
import re
from functools import lru_cache
from typing import Final, Protocol

from aiohttp import hdrs
from aiohttp.http import HttpVersion11
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestPayloadError
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.errors import HEADERS_TOO_LARGE, MALFORMED_REQUEST
from gateway.net.common.parser import LENGTH, VERSIONS, is_only_chunked
from gateway.net.server.peer import ServerLimits

# A bracketed IPv6 address or a name of at most 255 characters (RFC 1035), and a port.
_HOST: Final = re.compile(
    r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{0,255})(?::([0-9]{0,5}))?", re.ASCII
)
_LINE_REST: Final = len("  HTTP/1.1")
_LAST_PORT: Final = 65535
# Callers use few names for us; strangers can send any, so the cache is bounded.
_HOSTS_KEPT: Final = 256


def find_flaw(message: RawRequestMessage, limits: ServerLimits) -> ErrorCode | None:
    """
    Name what is wrong with a request that the parser accepted; None for a sound one.

    The parser is stricter than this in nearly everything. What it accepts and we
    refuse: versions 0.9 and 2.0, any transfer coding except ``chunked``, any on
    HTTP/1.0, a length beyond 18 digits, a Host that is no host, a target with a
    fragment or in a proxy's form.
    """
    if _is_too_large(message, limits):
        return HEADERS_TOO_LARGE
    sound = (
        message.version in VERSIONS
        and _is_target(message)
        and _is_host(message.headers.get(hdrs.HOST, ""))
        and _is_framing(message)
    )
    return None if sound else MALFORMED_REQUEST


def _is_too_large(message: RawRequestMessage, limits: ServerLimits) -> bool:
    """Measure whole lines; the parser measures targets, and most headers without their name."""
    if len(message.method) + len(message.path) + _LINE_REST > limits.request_line_bytes:
        return True
    longest = limits.header_line_bytes - len(": ")
    for name, value in message.raw_headers:  # noqa: SIM110 - twice as fast as any(), on every call
        if len(name) + len(value) > longest:
            return True
    return False


def _is_target(message: RawRequestMessage) -> bool:
    path = message.path
    if "#" in path:
        return False
    if path.startswith("/"):
        return True
    if path == "*":
        return message.method == hdrs.METH_OPTIONS
    return path.lower().startswith(("http://", "https://"))


@lru_cache(maxsize=_HOSTS_KEPT)
def _is_host(host: str) -> bool:
    found = _HOST.fullmatch(host)
    return found is not None and int(found.group(1) or 0) <= _LAST_PORT


def _is_framing(message: RawRequestMessage) -> bool:
    headers = message.headers
    length = headers.get(hdrs.CONTENT_LENGTH)
    if length is not None and LENGTH.fullmatch(length) is None:
        return False
    if hdrs.TRANSFER_ENCODING not in headers:
        return True
    return length is None and is_only_chunked(message)


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
