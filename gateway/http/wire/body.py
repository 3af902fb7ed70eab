"""A request's body, read within a size and a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError

if TYPE_CHECKING:
    from aiohttp import StreamReader


class RequestTimeout(Exception):
    """The request did not arrive in time: 408 ``SVC.GTW.004``."""


class BodyTooLarge(Exception):
    """The body is larger than allowed here, declared or not: 413 ``SVC.GTW.003``."""


class MalformedBody(Exception):
    """The body's framing broke after the headers were accepted: 400 ``SVC.VAL.011``."""


async def read_body(request: web.BaseRequest, limit_bytes: int, deadline_s: float) -> bytes:
    """
    Read the whole body, once.

    A caller that sent ``Expect: 100-continue`` is told to go on only here, so an
    answer given before this call spares it the body.

    Raises:
        BodyTooLarge: over ``limit_bytes``; a declared length is refused unread.
        RequestTimeout: not complete ``deadline_s`` seconds after this call.
        MalformedBody: a chunk is malformed.
        ConnectionError: the caller hung up; there is nobody to answer.
    """
    if (request.content_length or 0) > limit_bytes:
        raise BodyTooLarge
    try:
        async with asyncio.timeout(deadline_s):
            await _invite(request)
            return await _collect(request.content, limit_bytes)
    except TimeoutError as problem:
        raise RequestTimeout from problem
    except RequestPayloadError as problem:
        raise MalformedBody from problem


async def _invite(request: web.BaseRequest) -> None:
    """Send ``100 Continue`` where it is awaited and no byte of the body has come."""
    if not getattr(request, "awaits_continue", False) or request.content.total_bytes:
        return
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    # The interim answer is not the answer: nothing of that one has been sent yet.
    request.writer.output_size = 0


async def _collect(content: StreamReader, limit_bytes: int) -> bytes:
    body = bytearray()
    async for piece in content.iter_any():
        body += piece
        if len(body) > limit_bytes:
            raise BodyTooLarge
    return bytes(body)
