"""
The PROXY header that a load balancer sends before the first request, versions 1 and 2.

Source: "The PROXY protocol", HAProxy Technologies, version of 2020/03/05, parts 2.1
and 2.2. Its receiver never guesses whether a header is there.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from gateway.net.server.client_address import plain

SIGNATURE: Final = b"\r\n\r\n\x00\r\nQUIT\n"
"""The first 12 bytes of version 2."""

_LINE_START: Final = b"PROXY "
_LINE_BYTES: Final = 107
"""The longest line of version 1, its end included (part 2.1)."""

_FIXED_BYTES: Final = 16
_LONGEST_REST: Final = 8 * 1024
"""Addresses and additions of version 2: enough for a client certificate, and no more."""

_LINE: Final = re.compile(
    rb"PROXY (?:UNKNOWN(?: [\x20-\x7e]*)?|(TCP4|TCP6) ([0-9A-Fa-f:.]+) ([0-9A-Fa-f:.]+)"
    rb" (0|[1-9][0-9]{0,4}) (0|[1-9][0-9]{0,4}))\r\n"
)
_LAST_PORT: Final = 65535
_LOCAL, _PROXIED = 0x20, 0x21
_FAMILIES: Final = {0x1: (socket.AF_INET, 4, 12), 0x2: (socket.AF_INET6, 16, 36)}
"""By the upper half of byte 14: the family, the bytes of an address, of the whole block."""

_UNIX: Final = 0x3
_UNIX_BYTES: Final = 216
_TRANSPORTS: Final = frozenset({0x0, 0x1, 0x2})


class MalformedProxyHeader(ValueError):
    """No PROXY header, or one that breaks its form; nothing behind it can be read."""


@dataclass(frozen=True, slots=True)
class Announced:
    """
    What a whole header says.

    Attributes:
        address: The client's; empty where the proxy speaks for itself (a health
            check) or does not know.
        rest: What came behind the header.
    """

    address: str
    rest: bytes


def read_proxy_header(received: bytes) -> Announced | None:
    """
    Read a header from what has come so far; None while it is not complete.

    Never more than ``_FIXED_BYTES`` and ``_LONGEST_REST`` are waited for.

    Raises:
        MalformedProxyHeader: it cannot become one.
    """
    if received[: len(SIGNATURE)] == SIGNATURE:
        return _read_binary(received)
    if received[: len(_LINE_START)] == _LINE_START:
        return _read_line(received)
    if SIGNATURE.startswith(received) or _LINE_START.startswith(received):
        return None
    raise MalformedProxyHeader


def _read_line(received: bytes) -> Announced | None:
    """Read version 1: one line of text."""
    line, end, rest = received[:_LINE_BYTES].partition(b"\r\n")
    if not end:
        if len(received) >= _LINE_BYTES:
            raise MalformedProxyHeader
        return None
    found = _LINE.fullmatch(line + end)
    if found is None:
        raise MalformedProxyHeader
    rest += received[_LINE_BYTES:]
    if found.group(1) is None:
        return Announced("", rest)
    kind, source, target, *ports = (each.decode() for each in found.groups())
    reads = IPv6Address if kind == "TCP6" else IPv4Address
    try:
        addresses = [str(reads(each)) for each in (source, target)]
    except ValueError as problem:
        raise MalformedProxyHeader from problem
    if any(int(port) > _LAST_PORT for port in ports):
        raise MalformedProxyHeader
    return Announced(plain(addresses[0]), rest)


def _read_binary(received: bytes) -> Announced | None:
    """Read version 2: a block of known length."""
    if len(received) < _FIXED_BYTES:
        return None
    command, kind = received[12], received[13]
    length = int.from_bytes(received[14:_FIXED_BYTES])
    family, transport = kind >> 4, kind & 0xF
    sound = command in {_LOCAL, _PROXIED} and transport in _TRANSPORTS
    if not sound or length > _LONGEST_REST or not _fits(family, length, command):
        raise MalformedProxyHeader
    end = _FIXED_BYTES + length
    if len(received) < end:
        return None
    rest = received[end:]
    if command == _LOCAL or family not in _FAMILIES:
        return Announced("", rest)
    of, size, _ = _FAMILIES[family]
    text = socket.inet_ntop(of, received[_FIXED_BYTES : _FIXED_BYTES + size])
    return Announced(plain(text), rest)


def _fits(family: int, length: int, command: int) -> bool:
    """Say whether the addresses of a family find room; a proxy's own call needs none."""
    if family == 0x0 or command == _LOCAL:
        return family in {0x0, _UNIX, *_FAMILIES}
    if family == _UNIX:
        return length >= _UNIX_BYTES
    return family in _FAMILIES and length >= _FAMILIES[family][2]
