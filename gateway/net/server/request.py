"""A request as it came: its head vetted, its body perhaps still on its way."""

from __future__ import annotations

from typing import Protocol

from aiohttp import hdrs
from aiohttp.http import HttpVersion11
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader
from multidict import CIMultiDictProxy

from gateway.net.server.body import read_body


class Wire(Protocol):
    """What a request needs of the connection that it came by."""

    address: str

    def invite(self) -> None:
        """Tell the caller to send the body it holds back."""
        ...


class Request:
    """
    What a handler is asked; made by a connection alone.

    Attributes:
        path: As sent, percent-encoded, without the query.
        query: As sent, without the question mark; empty where there is none.
        message: What the parser made of the head.
        content: The body, as far as it came.
        content_length: As declared, in bytes; 0 where none is declared.
        wire: The connection it came by.
        address: The client's, as we believe it; empty where the system does not tell.
    """

    __slots__ = (
        "address",
        "content",
        "content_length",
        "headers",
        "message",
        "method",
        "path",
        "query",
        "wire",
    )

    method: str
    path: str
    query: str
    headers: CIMultiDictProxy[str]
    content_length: int

    def __init__(self, message: RawRequestMessage, content: StreamReader, wire: Wire) -> None:
        """Take ``message`` apart; ValueError for a target that only looks like an address."""
        self.message = message
        self.content = content
        self.wire = wire
        self.address = wire.address
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
        """Does the caller hold the body back until told to go on?"""
        if hdrs.EXPECT not in self.headers or self.message.version != HttpVersion11:
            return False
        return [each.lower() for each in self.headers.getall(hdrs.EXPECT)] == ["100-continue"]

    def invite(self) -> None:
        """Tell a caller that holds its body back, and has sent none of it, to go on."""
        if self.awaits_continue and not self.content.total_bytes:
            self.wire.invite()

    async def read(self, limit_bytes: int, deadline_s: float) -> bytes:
        """Read the whole body, once; raises what ``read_body`` raises."""
        return await read_body(self, limit_bytes, deadline_s)
