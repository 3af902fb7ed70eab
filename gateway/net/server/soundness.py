"""
Ambiguous requests, which two readers might parse differently.

Framing says where a message ends. Two readers that disagree about it can be made to take one
message for two (request smuggling), so everything unusual is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from aiohttp import HttpVersion10, HttpVersion11, hdrs, web

from gateway.core.catalogue import ErrorCode
from gateway.core.errors import HEADERS_TOO_LARGE, MALFORMED_REQUEST
from gateway.net.server.peer import ServerLimits

# A bracketed IPv6 address or a name of at most 255 characters (RFC 1035), and a port.
_HOST: Final = re.compile(
    r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{0,255})(?::([0-9]{0,5}))?", re.ASCII
)
# aiohttp finds no resource for one without a path.
_ABSOLUTE: Final = re.compile(r"https?://[^/?]+/", re.ASCII | re.IGNORECASE)
_LINE_REST: Final = len("  HTTP/1.1")
_LINE_END: Final = b"\r\n"
_LAST_PORT: Final = 65535
# Callers use few names for us; strangers can send any, so the cache is bounded.
_HOSTS_KEPT: Final = 256
# The parser reads 2**64 - 1 as "no length". 18 digits stay below it, and no body is that long.
_LENGTH: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_VERSIONS: Final = (HttpVersion11, HttpVersion10)


def find_flaw(request: web.BaseRequest, limits: ServerLimits, head_bytes: int) -> ErrorCode | None:
    """
    Return the flaw of a request that aiohttp accepted; None for a sound one.

    ``head_bytes`` is how large its head was at most.

    aiohttp refuses nearly all that two might not. It lets pass, and we refuse: versions 0.9
    and 2.0, any transfer coding except ``chunked``, any on HTTP/1.0, a length beyond 18
    digits, a Host that is no host, a target with a fragment, in a proxy's form or without a
    path. It measures targets and most headers without the rest of their line; we measure whole
    lines.

    Source: RFC 9112, parts 2.3, 3.2, 6.1 and 6.3.
    """
    may_be_large = head_bytes > min(limits.header_line_bytes, limits.request_line_bytes)
    if may_be_large and _is_too_large(request, limits):
        return HEADERS_TOO_LARGE
    is_sound = (
        request.version in _VERSIONS
        and _is_target(request.method, request.raw_path)
        and is_host(request.headers.get(hdrs.HOST, ""))
        and _is_framed(request)
    )
    return None if is_sound else MALFORMED_REQUEST


def find_fault(received: bytes, limits: ServerLimits) -> ErrorCode:
    """Return why aiohttp could not parse a head; its own error names the limit only in words."""
    line, *headers = received.partition(_LINE_END * 2)[0].split(_LINE_END)
    is_too_large = (
        len(line) > limits.request_line_bytes
        or len(headers) > limits.headers
        or any(len(each) > limits.header_line_bytes for each in headers)
    )
    return HEADERS_TOO_LARGE if is_too_large else MALFORMED_REQUEST


def _is_too_large(request: web.BaseRequest, limits: ServerLimits) -> bool:
    line = len(request.method) + len(request.raw_path) + _LINE_REST
    if line > limits.request_line_bytes:
        return True
    whole = line + len(_LINE_END)
    for name, value in request.raw_headers:
        line = len(name) + len(value) + len(": ")
        if line > limits.header_line_bytes:
            return True
        whole += line + len(_LINE_END)
    return whole + len(_LINE_END) > limits.head_bytes


def _is_target(method: str, target: str) -> bool:
    if "#" in target:
        return False
    if target.startswith("/"):
        return True
    if target == "*":
        return method == hdrs.METH_OPTIONS
    return _ABSOLUTE.match(target) is not None


@lru_cache(maxsize=_HOSTS_KEPT)
def is_host(host: str) -> bool:
    """Return whether it is a name or address, with or without a port, or empty: RFC 9112, 3.2."""
    found = _HOST.fullmatch(host)
    return found is not None and int(found.group(1) or 0) <= _LAST_PORT


def _is_framed(request: web.BaseRequest) -> bool:
    headers = request.headers
    length = headers.get(hdrs.CONTENT_LENGTH)
    if length is not None and _LENGTH.fullmatch(length) is None:
        return False
    if hdrs.TRANSFER_ENCODING not in headers:
        return True
    codings = headers.getall(hdrs.TRANSFER_ENCODING)
    is_chunked = [each.lower() for each in codings] == ["chunked"]
    return length is None and is_chunked and request.version == HttpVersion11
