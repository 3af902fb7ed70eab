"""
The PROXY header of a load balancer.

Source: "The PROXY protocol", HAProxy Technologies, version of 2020/03/05, parts 2.1
and 2.2. As it demands, we never guess whether a header is there.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
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
_BLOCKS: Final = {0x0: 0, 0x1: 12, 0x2: 36, 0x3: 216}
"""Bytes of the addresses, by the upper half of byte 14: of none, IPv4, IPv6, Unix sockets."""
_ADDRESSES: Final = {0x1: 4, 0x2: 16}
"""Bytes of one address; those of Unix sockets are skipped: they name no client."""
# Unspecified, stream or datagram (part 2.2); anything else is malformed.
_TRANSPORTS: Final = frozenset({0x0, 0x1, 0x2})


ProxyHeader = tuple[str, bytes]


class MalformedProxyHeader(ValueError):
    """No PROXY header, or a malformed one; nothing after it can be read."""


def read_proxy_header(received: bytes) -> ProxyHeader | None:
    """
    Read a header from the bytes so far; None while it is not complete.

    Returns the client's address and the bytes after the header. The address is empty when the
    proxy speaks for itself (a health check) or does not know it. Waits for
    ``_FIXED_BYTES`` and ``_LONGEST_REST`` at most.

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
        return "", rest
    kind, source, target, *ports = (each.decode() for each in found.groups())
    reads = IPv6Address if kind == "TCP6" else IPv4Address
    try:
        addresses = [str(reads(each)) for each in (source, target)]
    except ValueError as problem:
        raise MalformedProxyHeader from problem
    if any(int(port) > _LAST_PORT for port in ports):
        raise MalformedProxyHeader
    return without_mapping(addresses[0]), rest


def _read_binary(received: bytes) -> ProxyHeader | None:
    if len(received) < _FIXED_BYTES:
        return None
    command, kind = received[12], received[13]
    length = int.from_bytes(received[14:_FIXED_BYTES])
    family, transport = kind >> 4, kind & 0xF
    if (
        command not in {_LOCAL, _PROXIED}
        or transport not in _TRANSPORTS
        or length > _LONGEST_REST
        or family not in _BLOCKS
        or (command == _PROXIED and length < _BLOCKS[family])
    ):
        raise MalformedProxyHeader
    end = _FIXED_BYTES + length
    if len(received) < end:
        return None
    rest = received[end:]
    if command == _LOCAL or family not in _ADDRESSES:
        return "", rest
    address = ip_address(received[_FIXED_BYTES : _FIXED_BYTES + _ADDRESSES[family]])
    return without_mapping(str(address)), rest
