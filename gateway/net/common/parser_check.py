"""Is aiohttp's HTTP parser the one that this package was written and tested against?"""

from __future__ import annotations

from typing import Final

import aiohttp
from aiohttp import http_parser

# Parsers and protocol classes are inner parts of aiohttp: any minor release may change them.
AIOHTTP: Final = "3.14."
"""The start of every proven version. ``docs/adr`` says how to move to the next one."""


class UnfitParser(RuntimeError):
    """This process cannot read HTTP safely and must not start; the message is for the operator."""


def require_proven_parser() -> None:
    """
    Refuse to read HTTP with a parser that was not proven.

    Raises:
        UnfitParser: aiohttp is of another minor version, or runs without its C
            parsers. The Python ones let other input through.
    """
    if not aiohttp.__version__.startswith(AIOHTTP):
        problem = f"aiohttp {AIOHTTP}x is needed, this is {aiohttp.__version__}"
        raise UnfitParser(problem)
    if (
        http_parser.HttpRequestParser is http_parser.HttpRequestParserPy
        or http_parser.HttpResponseParser is http_parser.HttpResponseParserPy
    ):
        problem = (
            "aiohttp's C parser is not loaded: unset AIOHTTP_NO_EXTENSIONS, "
            "or install aiohttp from a wheel for this platform"
        )
        raise UnfitParser(problem)
