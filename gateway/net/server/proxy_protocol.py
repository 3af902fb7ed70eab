"""
The PROXY header of a load balancer.

Source: "The PROXY protocol", HAProxy Technologies, version of 2020/03/05, parts 2.1
and 2.2. As it demands, we never guess whether a header is there.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from gateway.net.server.peer import without_mapping

SIGNATURE: Final = b"\r\n\r\n\x00\r\nQUIT\n"
"""The first 12 bytes of version 2."""
_LINE_START: Final = b"PROXY "
_LINE_BYTES: Final = 107
"""The longest line of version 1, its end included (part 2.1)."""
# Signature, command, family and the length of the rest (part 2.2).
_FIXED_BYTES: Final = 16
_LONGEST_REST: Final = 8 * 1024
"""Addresses and extensions of version 2: enough for a client certificate, and no more."""
_LINE: Final = re.compile(
    rb"PROXY (?:UNKNOWN(?: [\x20-\x7e]*)?|(TCP4|TCP6) ([0-9A-Fa-f:.]+) ([0-9A-Fa-f:.]+)"
    rb" (0|[1-9][0-9]{0,4}) (0|[1-9][0-9]{0,4}))\r\n"
)
_LAST_PORT: Final = 65535
_LOCAL, _PROXIED = 0x20, 0x21
_FAMILIES: Final = {0x1: (socket.AF_INET, 4, 12), 0x2: (socket.AF_INET6, 16, 36)}
"""By the upper half of byte 14: the family, the bytes of an address, of the whole block."""
# Addresses of Unix sockets are skipped: they name no client.
_UNIX: Final = 0x3
_UNIX_BYTES: Final = 216
# Unspecified, stream or datagram (part 2.2); anything else is malformed.
_TRANSPORTS: Final = frozenset({0x0, 0x1, 0x2})


class MalformedProxyHeader(ValueError):
    """No PROXY header, or a malformed one; nothing after it can be read."""


@dataclass(frozen=True, slots=True)
class ProxyHeader:
    """
    What a whole header says.

    Attributes:
        address: The client's; empty when the proxy speaks for itself (a health
            check) or does not know it.
        rest: The bytes after the header.
    """

    address: str
    rest: bytes


def read_proxy_header(received: bytes) -> ProxyHeader | None:
    """
    Read a header from the bytes so far; None while it is not complete.

    Waits for ``_FIXED_BYTES`` and ``_LONGEST_REST`` at most.

    Raises:
        MalformedProxyHeader: these bytes cannot begin one.
    """
    if received[: len(SIGNATURE)] == SIGNATURE:
        return _read_binary(received)
    if received[: len(_LINE_START)] == _LINE_START:
        return _read_line(received)
    if SIGNATURE.startswith(received) or _LINE_START.startswith(received):
        return None
    raise MalformedProxyHeader


def _read_line(received: bytes) -> ProxyHeader | None:
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
        return ProxyHeader("", rest)
    kind, source, target, *ports = (each.decode() for each in found.groups())
    reads = IPv6Address if kind == "TCP6" else IPv4Address
    try:
        addresses = [str(reads(each)) for each in (source, target)]
    except ValueError as problem:
        raise MalformedProxyHeader from problem
    if any(int(port) > _LAST_PORT for port in ports):
        raise MalformedProxyHeader
    return ProxyHeader(without_mapping(addresses[0]), rest)


def _read_binary(received: bytes) -> ProxyHeader | None:
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
        return ProxyHeader("", rest)
    of, size, _ = _FAMILIES[family]
    text = socket.inet_ntop(of, received[_FIXED_BYTES : _FIXED_BYTES + size])
    return ProxyHeader(without_mapping(text), rest)


def _fits(family: int, length: int, command: int) -> bool:
    """Is there room for the addresses of the family? A proxy's own call has none."""
    if family == 0x0 or command == _LOCAL:
        return family in {0x0, _UNIX, *_FAMILIES}
    if family == _UNIX:
        return length >= _UNIX_BYTES
    return family in _FAMILIES and length >= _FAMILIES[family][2]
