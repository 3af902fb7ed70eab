"""
HTTP/1 framing of requests, and the check of aiohttp's parser.

Framing says where a message ends. Two readers that disagree about it can be made to
take one message for two (request smuggling), so everything unusual is refused.

Source: RFC 9112, parts 2.3, 6.1 and 6.3.
"""

from __future__ import annotations

import re
from typing import Final

import aiohttp
from aiohttp import hdrs, http_parser
from aiohttp.http import HttpVersion10, HttpVersion11
from aiohttp.http_parser import RawRequestMessage

# The parser reads 2**64 - 1 as "no length". 18 digits stay below it, and no body is that long.
LENGTH: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
"""A ``Content-Length`` that every reader reads alike."""
VERSIONS: Final = (HttpVersion11, HttpVersion10)
"""Those we speak; the parser also accepts 0.9 and 2.0."""


def is_only_chunked(message: RawRequestMessage) -> bool:
    """
    Is ``chunked`` the only transfer coding, named once, on HTTP/1.1?

    Readers of HTTP/1.0 do not know transfer codings: they would take the body for
    the next message.
    """
    codings = message.headers.getall(hdrs.TRANSFER_ENCODING)
    return (
        len(codings) == 1 and codings[0].lower() == "chunked" and message.version == HttpVersion11
    )


# The parser and protocol classes are inner parts of aiohttp: any minor release may change them.
AIOHTTP: Final = "3.14."
"""The start of every proven version. ``docs/adr`` says how to move to the next one."""


class UnfitParser(RuntimeError):
    """This process cannot read HTTP safely and must not start; the message is for the operator."""


def require_proven_parser() -> None:
    """
    Refuse to read requests with a parser that was not proven.

    Raises:
        UnfitParser: aiohttp is of another minor version, or runs without its C
            parser. The one in Python lets other input through.
    """
    if not aiohttp.__version__.startswith(AIOHTTP):
        problem = f"aiohttp {AIOHTTP}x is needed, this is {aiohttp.__version__}"
        raise UnfitParser(problem)
    if http_parser.HttpRequestParser is http_parser.HttpRequestParserPy:
        problem = (
            "aiohttp's C parser is not loaded: unset AIOHTTP_NO_EXTENSIONS, "
            "or install aiohttp from a wheel for this platform"
        )
        raise UnfitParser(problem)
