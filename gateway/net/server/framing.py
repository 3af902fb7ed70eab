"""Is a parsed request framed so that every reader of it reads the same?"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from aiohttp import hdrs
from aiohttp.http_parser import RawRequestMessage

from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.errors import HEADERS_TOO_LARGE, MALFORMED_REQUEST
from gateway.net.common.framing import LENGTH, VERSIONS, is_only_chunked
from gateway.net.server.limits import ServerLimits

# A bracketed IPv6 address or a name of at most 255 characters (RFC 1035), and a port.
_HOST: Final = re.compile(
    r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{0,255})(?::([0-9]{0,5}))?", re.ASCII
)
_LINE_REST: Final = len("  HTTP/1.1")
_LAST_PORT: Final = 65535
# Callers use few names for us; strangers can send any, so the cache is bounded.
_HOSTS_KEPT: Final = 256


def find_flaw(message: RawRequestMessage, limits: ServerLimits) -> ErrorCode | None:
    """
    Name what is wrong with a request that the parser accepted; None for a sound one.

    The parser is stricter than this in nearly everything. What it accepts and we
    refuse: versions 0.9 and 2.0, any transfer coding except ``chunked``, any on
    HTTP/1.0, a length beyond 18 digits, a Host that is no host, a target with a
    fragment or in a proxy's form.
    """
    if _is_too_large(message, limits):
        return HEADERS_TOO_LARGE
    sound = (
        message.version in VERSIONS
        and _is_target(message)
        and _is_host(message.headers.get(hdrs.HOST, ""))
        and _is_framing(message)
    )
    return None if sound else MALFORMED_REQUEST


def _is_too_large(message: RawRequestMessage, limits: ServerLimits) -> bool:
    """Measure whole lines; the parser measures targets, and most headers without their name."""
    if len(message.method) + len(message.path) + _LINE_REST > limits.request_line_bytes:
        return True
    longest = limits.header_line_bytes - len(": ")
    for name, value in message.raw_headers:  # noqa: SIM110 - twice as fast as any(), on every call
        if len(name) + len(value) > longest:
            return True
    return False


def _is_target(message: RawRequestMessage) -> bool:
    path = message.path
    if "#" in path:
        return False
    if path.startswith("/"):
        return True
    if path == "*":
        return message.method == hdrs.METH_OPTIONS
    return path.lower().startswith(("http://", "https://"))


@lru_cache(maxsize=_HOSTS_KEPT)
def _is_host(host: str) -> bool:
    found = _HOST.fullmatch(host)
    return found is not None and int(found.group(1) or 0) <= _LAST_PORT


def _is_framing(message: RawRequestMessage) -> bool:
    headers = message.headers
    length = headers.get(hdrs.CONTENT_LENGTH)
    if length is not None and LENGTH.fullmatch(length) is None:
        return False
    if hdrs.TRANSFER_ENCODING not in headers:
        return True
    return length is None and is_only_chunked(message)
