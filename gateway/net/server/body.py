"""A request's body, read within a size and a time."""

from __future__ import annotations

import asyncio
from typing import Protocol

from aiohttp.streams import StreamReader
from aiohttp.web_protocol import RequestPayloadError


class RequestTimeout(Exception):
    """The request did not arrive in time: 408 ``SVC.GTW.004``."""


class BodyTooLarge(Exception):
    """The body is larger than allowed here, declared or not: 413 ``SVC.GTW.003``."""


class MalformedBody(Exception):
    """The body's framing broke after the headers were accepted: 400 ``SVC.VAL.011``."""


class Sent(Protocol):
    """A request with a body."""

    @property
    def content(self) -> StreamReader:
        """The body, as far as it came."""
        ...

    @property
    def content_length(self) -> int | None:
        """The declared length in bytes, if any."""
        ...

    def invite(self) -> None:
        """Tell a caller that holds its body back to go on."""
        ...


async def read_body(request: Sent, limit_bytes: int, deadline_s: float) -> bytes:
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
            request.invite()
            return await _collect(request.content, limit_bytes)
    except TimeoutError as problem:
        raise RequestTimeout from problem
    except RequestPayloadError as problem:
        raise MalformedBody from problem


async def _collect(content: StreamReader, limit_bytes: int) -> bytes:
    body = bytearray()
    async for piece in content.iter_any():
        body += piece
        if len(body) > limit_bytes:
            raise BodyTooLarge
    return bytes(body)
