"""A request: its head is checked, its body is read within a size and a time."""

from __future__ import annotations

import asyncio
from typing import Protocol

from aiohttp import hdrs
from aiohttp.http import HttpVersion11
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader
from aiohttp.web_protocol import RequestPayloadError
from multidict import CIMultiDictProxy


class RequestTimeout(Exception):
    """The request did not arrive in time: 408 ``SVC.GTW.004``."""


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
        return self.content.is_eof()

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
        try:
            async with asyncio.timeout(deadline_s):
                self.send_continue()
                return await _collect(self.content, limit_bytes)
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
