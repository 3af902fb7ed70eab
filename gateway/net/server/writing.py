"""Writing of answers: the last one of a connection is read, and truncation is visible."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from aiohttp import HttpVersion11, hdrs, web
from aiohttp.typedefs import Handler

from gateway.net.server.front import Front
from gateway.net.server.refusals import SERVER
from gateway.net.server.request import front_of

Pieces = AsyncGenerator[bytes, None]
"""A body's pieces; closed when they are no longer wanted."""

_SHARED_BYTES: Final = 64 * 1024
"""
The head before a larger body is written alone.

aiohttp writes both as one: a copy of the body for each caller, held until it is taken. Callers
of a ready-made document share its bytes.
"""


@web.middleware
async def on_the_wire(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let an application answer a request that is sound, and write its answer."""
    front = front_of(request)
    if front is None:
        return await handler(request)
    waiting = front.begin_request(request)
    if waiting is not None:
        await waiting
    is_last = False
    try:
        answer = await handler(request)
        if not answer.prepared:
            complete_head(request, answer, front)
            await answer.prepare(request)
        if (answer.content_length or 0) > _SHARED_BYTES:
            await answer.write(b"")
        await answer.write_eof()
        is_last = not answer.keep_alive
    finally:
        front.end_request(is_last=is_last)
    if not request.content.is_eof():
        await front.linger()
    return answer


def complete_head(request: web.Request, answer: web.StreamResponse, front: Front | None) -> None:
    """
    Name the server in the head of an answer, and decide whether the connection is kept.

    An answer given before the whole request has arrived is the connection's last: what
    still arrives is discarded, never read as a request. So is one to a caller who asked for
    another protocol: aiohttp reads nothing more as HTTP until the upgrade is declined.
    """
    answer.headers[hdrs.SERVER] = SERVER
    is_last = not request.content.is_eof() or hdrs.UPGRADE in request.headers
    if is_last or (front is not None and front.is_last):
        answer.force_close()


async def write_pieces(request: web.Request, answer: web.StreamResponse, pieces: Pieces) -> None:
    """
    Write an answer whole, piece by piece, no faster than the caller takes it.

    Any early end of the pieces resets the connection: the caller sees that the
    answer is not whole. They are closed in any case.

    Raises:
        ConnectionError: the caller hung up, or took nothing for too long.
        TimeoutError: the whole took too long.
    """
    front = front_of(request)
    async with aclosing(pieces):
        if request.version != HttpVersion11:  # no chunks: the connection's end is the body's
            answer.force_close()
        complete_head(request, answer, front)
        await answer.prepare(request)
        try:
            async with asyncio.timeout(front.limits.stream_deadline_s if front else None):
                if request.method != hdrs.METH_HEAD:
                    async for piece in pieces:
                        if piece:
                            await answer.write(piece)
                            await asyncio.sleep(0)  # others have their turn
                await answer.write_eof()
        except BaseException:
            if front is not None:
                front.reset()
            raise
