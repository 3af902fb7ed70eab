"""The parts of a request that the gateway reads: peer, target, and the limited body."""

from __future__ import annotations

import asyncio
from typing import Final

from aiohttp import HttpVersion11, hdrs, web

from gateway.net.server.front import Front
from gateway.net.server.lane import Request, WholeRequest
from gateway.net.server.peer import Peer, ServerLimits

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class RequestTimeout(Exception):
    """The body did not arrive in time: 408 ``SVC.GTW.004``."""


class BodyTooLarge(Exception):
    """The body is larger than allowed here, declared or not: 413 ``SVC.GTW.003``."""


class MalformedBody(Exception):
    """The body's framing broke after the headers were accepted: 400 ``SVC.VAL.011``."""


def front_of(request: web.BaseRequest) -> Front | None:
    """Return the protocol in front of aiohttp on a request's connection; None without one."""
    transport = request.transport
    protocol = None if transport is None else transport.get_protocol()
    return protocol if isinstance(protocol, Front) else None


def target(request: Request) -> tuple[str, str]:
    """Return path and query as they were sent, percent-encoded, without the question mark."""
    raw = request.raw_path
    if isinstance(request, WholeRequest) or raw.startswith("/"):
        path, _, query = raw.partition("?")
        return path, query
    return request.rel_url.raw_path or "/", request.rel_url.raw_query_string


def declared_bytes(request: Request) -> int:
    """Return the length of the body as declared; 0 when none is."""
    return int(request.headers.get(hdrs.CONTENT_LENGTH, 0))


def address_of(request: Request) -> str:
    """Return the client's trusted address; empty if the system reports none."""
    return _peer_of(request).client_address(request.headers)


def certificate_of(request: Request) -> bytes:
    """Return the client's trusted certificate in DER; empty for none."""
    return _peer_of(request).certificate(request.headers)


def _peer_of(request: Request) -> Peer:
    if isinstance(request, WholeRequest):
        return request.peer
    front = front_of(request)
    return Peer(request.remote or "", ServerLimits()) if front is None else front.peer


async def expect_nothing(request: web.Request) -> None:
    """Leave ``Expect`` to who reads the body: a caller who is refused need not send it."""


async def read_body(request: Request, limit_bytes: int, deadline_s: float) -> bytes:
    """
    Read the whole body, once.

    A caller that sent ``Expect: 100-continue`` gets its ``100 Continue`` only here.
    If it is answered before this call, it need not send the body.

    Raises:
        BodyTooLarge: over ``limit_bytes``; a declared length is refused unread.
        RequestTimeout: not complete ``deadline_s`` seconds after this call.
        MalformedBody: a chunk is malformed.
        ConnectionError: the caller hung up.
    """
    if declared_bytes(request) > limit_bytes:
        raise BodyTooLarge
    if isinstance(request, WholeRequest):
        return request.body
    try:
        async with asyncio.timeout(deadline_s):
            _send_continue(request)
            return await _collect(request, limit_bytes)
    except TimeoutError as problem:
        raise RequestTimeout from problem
    except web.RequestPayloadError as problem:
        raise MalformedBody from problem


def _send_continue(request: web.BaseRequest) -> None:
    expected = [each.lower() for each in request.headers.getall(hdrs.EXPECT, ())]
    is_held_back = expected == ["100-continue"] and not request.content.is_eof()
    if is_held_back and request.version == HttpVersion11 and request.transport is not None:
        request.transport.write(_CONTINUE)


async def _collect(request: web.BaseRequest, limit_bytes: int) -> bytes:
    body = bytearray()
    async for piece in request.content.iter_any():
        body += piece
        if len(body) > limit_bytes:
            raise BodyTooLarge
    return bytes(body)
