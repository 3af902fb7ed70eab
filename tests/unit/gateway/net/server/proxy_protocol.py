"""What several tests of proxy protocol share."""

import socket
import struct

import pytest

from gateway.net.server.proxy_protocol import (
    SIGNATURE,
)

HTTP = b"GET / HTTP/1.1\r\nHost: pixgate\r\n\r\n"
TCP4, UDP4, TCP6, UNIX, UNSPEC = 0x11, 0x12, 0x21, 0x31, 0x00
LOCAL, PROXY = 0x20, 0x21
FOUR = socket.inet_aton("203.0.113.7") + socket.inet_aton("192.0.2.1") + struct.pack(">HH", 5, 80)
SIX = (
    socket.inet_pton(socket.AF_INET6, "2001:db8::7")
    + socket.inet_pton(socket.AF_INET6, "2001:db8::1")
    + struct.pack(">HH", 5, 80)
)
MAPPED = socket.inet_pton(socket.AF_INET6, "::ffff:203.0.113.7") * 2 + struct.pack(">HH", 5, 80)
TLV = b"\x04\x00\x03abc\x20\x00\x08\x01\x00\x00\x00\x00\x21\x00\x00"
LONGEST = b"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535".ljust(105, b" ") + b"\r\n"


def binary(command: int, kind: int, rest: bytes = b"", length: int | None = None) -> bytes:
    """Write version 2."""
    size = len(rest) if length is None else length
    return SIGNATURE + bytes((command, kind)) + struct.pack(">H", size) + rest


WHOLE = [
    pytest.param(b"PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n", "203.0.113.7", id="v1-4"),
    pytest.param(b"PROXY TCP6 2001:DB8::7 2001:db8::1 0 65535\r\n", "2001:db8::7", id="v1-6"),
    pytest.param(b"PROXY TCP6 ::ffff:203.0.113.7 ::1 1 2\r\n", "203.0.113.7", id="v1-mapped"),
    pytest.param(b"PROXY UNKNOWN\r\n", "", id="v1-unknown"),
    pytest.param(LONGEST, "", id="v1-longest"),
    pytest.param(binary(PROXY, TCP4, FOUR), "203.0.113.7", id="v2-4"),
    pytest.param(binary(PROXY, UDP4, FOUR), "203.0.113.7", id="v2-datagrams"),
    pytest.param(binary(PROXY, TCP6, SIX), "2001:db8::7", id="v2-6"),
    pytest.param(binary(PROXY, TCP6, MAPPED), "203.0.113.7", id="v2-mapped"),
    pytest.param(binary(PROXY, TCP4, FOUR + TLV), "203.0.113.7", id="v2-additions"),
    pytest.param(binary(PROXY, TCP4, FOUR + b"x" * 8000), "203.0.113.7", id="v2-many-additions"),
    pytest.param(binary(PROXY, UNSPEC), "", id="v2-unspecified"),
    pytest.param(binary(PROXY, UNSPEC, TLV), "", id="v2-unspecified-with-additions"),
    pytest.param(binary(PROXY, UNIX, bytes(216)), "", id="v2-unix"),
    pytest.param(binary(LOCAL, UNSPEC), "", id="v2-local"),
    pytest.param(binary(LOCAL, TCP4, FOUR), "", id="v2-local-with-addresses"),
]
BROKEN = [
    pytest.param(HTTP, id="http-at-once"),
    pytest.param(b"\r\n" + HTTP, id="blank-line"),
    pytest.param(b"proxy TCP4 203.0.113.7 192.0.2.1 1 2\r\n", id="v1-lower-case"),
    pytest.param(b"PROXY TCP4 203.0.113.7 192.0.2.1 1\r\n", id="v1-without-port"),
    pytest.param(b"PROXY TCP4 203.0.113.7 192.0.2.1 1 2 3\r\n", id="v1-too-much"),
    pytest.param(b"PROXY TCP4  203.0.113.7 192.0.2.1 1 2\r\n", id="v1-two-spaces"),
    pytest.param(b"PROXY TCP4 203.0.113.7 192.0.2.1 65536 2\r\n", id="v1-port"),
    pytest.param(b"PROXY TCP4 203.0.113.7 192.0.2.1 01 2\r\n", id="v1-leading-zero"),
    pytest.param(b"PROXY TCP4 203.0.113.256 192.0.2.1 1 2\r\n", id="v1-no-address"),
    pytest.param(b"PROXY TCP4 2001:db8::7 2001:db8::1 1 2\r\n", id="v1-other-family"),
    pytest.param(b"PROXY TCP6 203.0.113.7 192.0.2.1 1 2\r\n", id="v1-other-family-6"),
    pytest.param(b"PROXY TCP6 203.0.113.7:1 ::1 1 2\r\n", id="v1-port-in-address"),
    pytest.param(b"PROXY UDP4 203.0.113.7 192.0.2.1 1 2\r\n", id="v1-no-such-transport"),
    pytest.param(b"PROXY TCP4 203.0.113.7 192.0.2.1 1 2\n" + HTTP, id="v1-bare-line-feed"),
    pytest.param(b"PROXY UNKNOWN".ljust(107, b" "), id="v1-without-end"),
    pytest.param(b"PROXY UNKNOWN".ljust(106, b" ") + b"\r\n", id="v1-too-long"),
    pytest.param(binary(0x11, TCP4, FOUR), id="v2-other-version"),
    pytest.param(binary(0x22, TCP4, FOUR), id="v2-other-command"),
    pytest.param(binary(PROXY, 0x13, FOUR), id="v2-other-transport"),
    pytest.param(binary(PROXY, 0x41, FOUR), id="v2-other-family"),
    pytest.param(binary(PROXY, TCP4, FOUR[:-1]), id="v2-too-short"),
    pytest.param(binary(PROXY, TCP6, FOUR), id="v2-too-short-6"),
    pytest.param(binary(PROXY, UNIX, bytes(215)), id="v2-too-short-unix"),
    pytest.param(binary(PROXY, TCP4, FOUR, length=8193), id="v2-too-long"),
    pytest.param(SIGNATURE[:-1] + b"\r" + bytes(16), id="v2-signature"),
]
