"""
The framing of HTTP/1 messages: rules that requests and responses share.

Framing says where a message ends. Two readers that disagree about it can be made to
take one message for two (request smuggling), so everything unusual is refused.

Source: RFC 9112, parts 2.3, 6.1 and 6.3.
"""

from __future__ import annotations

import re
from typing import Final

from aiohttp import hdrs
from aiohttp.http import HttpVersion10, HttpVersion11
from aiohttp.http_parser import RawRequestMessage, RawResponseMessage

# The parser reads 2**64 - 1 as "no length". 18 digits stay below it, and no body is that long.
LENGTH: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
"""A ``Content-Length`` that every reader reads alike."""

VERSIONS: Final = (HttpVersion11, HttpVersion10)
"""Those we speak; the parser also accepts 0.9 and 2.0."""


def is_only_chunked(message: RawRequestMessage | RawResponseMessage) -> bool:
    """
    Is ``chunked`` the only transfer coding, named once, on HTTP/1.1?

    Readers of HTTP/1.0 do not know transfer codings: they would take the body for
    the next message.
    """
    codings = message.headers.getall(hdrs.TRANSFER_ENCODING)
    return (
        len(codings) == 1 and codings[0].lower() == "chunked" and message.version == HttpVersion11
    )
