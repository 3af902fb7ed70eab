"""Answers that are written piece by piece: bounded in memory and time, never cut unseen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from aiohttp import hdrs
from aiohttp.http import HttpVersion11

from gateway.net.server.reply import Reply, Written, reply_format, streamed_head
from gateway.net.server.request import Request

Pieces = AsyncGenerator[bytes, None]
"""A body's pieces; closed when they are no longer wanted."""

_END: Final = b"0\r\n\r\n"


async def write_pieces(request: Request, answer: Reply, pieces: Pieces) -> Written:
    """
    Write an answer piece by piece, no faster than the caller takes it; its own body comes first.

    Whatever ends the pieces early resets the connection: the caller sees that the
    answer is not whole. They are closed in any case.

    Raises:
        ConnectionError: the caller hung up, or took nothing for too long.
        TimeoutError: the whole took too long.
        UnwritableReply: a header must not be written; nothing was.
    """
    async with aclosing(pieces):
        version, connection = request.message.version, request.connection
        is_chunked = version == HttpVersion11
        ends = answer.closes or request.message.should_close or connection.is_last
        keeps = is_chunked and not ends and request.is_complete
        bodiless = request.method == hdrs.METH_HEAD
        how = reply_format(version, keeps=keeps, bodiless=bodiless)
        _write(request, streamed_head(answer, how))
        if not bodiless:
            try:
                async with asyncio.timeout(connection.stream_deadline_s):
                    await _body(request, answer.body, pieces, is_chunked=is_chunked)
            except BaseException:
                connection.reset()
                raise
        return Written(keeps=keeps)


async def _body(request: Request, first: bytes, pieces: Pieces, *, is_chunked: bool) -> None:
    """Write every piece; others have their turn behind each."""
    if first:
        await _piece(request, first, is_chunked=is_chunked)
    async for piece in pieces:
        if piece:
            await _piece(request, piece, is_chunked=is_chunked)
    if is_chunked:
        _write(request, _END)


async def _piece(request: Request, piece: bytes, *, is_chunked: bool) -> None:
    """Write one, and wait for room."""
    _write(request, b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
    await asyncio.sleep(0)
    await request.connection.drained()


def _write(request: Request, data: bytes) -> None:
    """Hand bytes to the connection; one that is gone tells so when it is waited for."""
    transport = request.connection.transport
    if transport is None:
        problem = "the caller hung up"
        raise ConnectionResetError(problem)
    transport.write(data)
