"""The request as the listener hands it up: vetted, its body bounded, its answer dressed."""

from __future__ import annotations

import asyncio
import sys
from typing import Final, Protocol, cast

from aiohttp import StreamReader, hdrs, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import HttpVersion11
from aiohttp.http_parser import RawRequestMessage
from aiohttp.web_protocol import ERROR, RequestHandler
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gateway.domain.errors import MALFORMED_REQUEST, ErrorCode
from gateway.http.wire.body import read_body
from gateway.http.wire.framing import find_flaw
from gateway.http.wire.limits import WireLimits

Rest = tuple[StreamReader, RequestHandler, AbstractStreamWriter, "asyncio.Task[None]"]
"""What aiohttp makes a request from beside its message."""

_NOBODY: Final = RawRequestMessage(
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


class Wire(Protocol):
    """What a request needs of the connection it came by."""

    limits: WireLimits

    def dress(self, request: WireRequest, response: web.StreamResponse) -> None:
        """Put the listener's own headers on an answer, last before it is written."""


class Build(Protocol):
    """Makes a request for the application, or for a bare handler."""

    def __call__(self, message: RawRequestMessage, *rest: *Rest) -> WireRequest:
        """Make it; raises ValueError for a target that is no URL."""


class WireRequest(web.Request):
    """
    A request that aiohttp's own readers cannot hold open or fill up.

    Attributes:
        flaw: Why it is refused without being handed up; None for a sound one.
        parsed: False where the parser gave up and this only stands for it.
        awaits_continue: The caller holds the body back until told to go on.
    """

    ATTRS = web.Request.ATTRS | frozenset({"awaits_continue", "flaw", "parsed"})

    flaw: ErrorCode | None = None
    parsed: bool = True
    awaits_continue: bool = False

    async def read(self) -> bytes:
        """
        Read the body as ``read_body`` does, within the application's size limit.

        ``text``, ``json`` and the urlencoded ``post`` come this way too. Repeatable.
        """
        if self._read_bytes is None:
            wire = cast("Wire", self._protocol)
            limit = self.client_max_size or sys.maxsize
            self._read_bytes = await read_body(self, limit, wire.limits.body_deadline_s)
        return self._read_bytes

    @property
    def is_complete(self) -> bool:
        """Has the whole request arrived, its body included, read or not?"""
        return self._payload.is_eof()

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        await super()._prepare_hook(response)
        cast("Wire", self._protocol).dress(self, response)


def understand(
    build: Build, limits: WireLimits, message: RawRequestMessage, *rest: *Rest
) -> WireRequest:
    """
    Make the request from what the parser found, marked where it must be refused.

    A refused one keeps nothing of what was sent but its method, so that nothing
    can be echoed and an answer to HEAD stays without a body.
    """
    if message is ERROR:
        return _stand_in(build, _NOBODY, *rest)
    flaw = find_flaw(message, limits)
    if flaw is None:
        try:
            return _take(build, message, *rest)
        except ValueError:
            # A target that only looks like a URL.
            flaw = MALFORMED_REQUEST
    refused = _stand_in(build, _NOBODY._replace(method=message.method), *rest)
    refused.flaw = flaw
    return refused


def _stand_in(build: Build, message: RawRequestMessage, *rest: *Rest) -> WireRequest:
    request = build(message, *rest)
    request.parsed = False
    return request


def _take(build: Build, message: RawRequestMessage, *rest: *Rest) -> WireRequest:
    """Take Expect away, for aiohttp answers 417 to one it does not know and 100 too early."""
    if hdrs.EXPECT not in message.headers:
        return build(message, *rest)
    expected = [each.lower() for each in message.headers.getall(hdrs.EXPECT)]
    headers = CIMultiDict(message.headers)
    del headers[hdrs.EXPECT]
    request = build(message._replace(headers=CIMultiDictProxy(headers)), *rest)
    request.awaits_continue = expected == ["100-continue"] and message.version == HttpVersion11
    return request
