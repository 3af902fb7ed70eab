"""aiohttp's C response parser, of the one minor version that was proven."""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp
from aiohttp import http_parser
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_parser import HttpResponseParser

AIOHTTP: Final = "3.14."
"""The one minor version whose parser this package was written against."""

LINE_BYTES: Final = 8190
HEADERS: Final = 128

# The parser hands a body on without ever asking to pause; what is read is bounded by the reader.
_NEVER_PAUSES: Final = 2**30


class UnfitParser(RuntimeError):
    """This process cannot read a bank's answers safely; it must not start."""


def require_parser() -> None:
    """
    Refuse to call banks with a parser that was not proven.

    Raises:
        UnfitParser: aiohttp runs without its C parser, or is of another minor version.
    """
    if not aiohttp.__version__.startswith(AIOHTTP):
        problem = f"aiohttp {AIOHTTP}x is needed, this is {aiohttp.__version__}"
        raise UnfitParser(problem)
    if http_parser.HttpResponseParser is http_parser.HttpResponseParserPy:
        problem = (
            "aiohttp's C parser is not loaded: unset AIOHTTP_NO_EXTENSIONS, "
            "or install aiohttp from a wheel for this platform"
        )
        raise UnfitParser(problem)


def make_parser(loop: asyncio.AbstractEventLoop) -> HttpResponseParser:
    """Make the parser of one connection; it serves all answers on it."""
    return HttpResponseParser(
        _Unpaused(loop),
        loop,
        _NEVER_PAUSES,
        max_line_size=LINE_BYTES,
        max_field_size=LINE_BYTES,
        max_headers=HEADERS,
        read_until_eof=True,
        auto_decompress=False,
    )


class _Unpaused(BaseProtocol):
    """What the parser's body buffers hold for a connection, to stop and start its reading."""

    __slots__ = ()

    def pause_reading(self) -> None:
        """Stop nothing: the buffer is emptied as soon as it is filled."""

    def resume_reading(self, resume_parser: bool = True) -> None:  # noqa: FBT001, FBT002 - aiohttp's
        """Start nothing."""
