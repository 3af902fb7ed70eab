"""What several tests of proxy protocol share."""

import socket
import struct

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
    size = len(rest) if length is None else length
    return SIGNATURE + bytes((command, kind)) + struct.pack(">H", size) + rest


WHOLE = {
    b"PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n": "203.0.113.7",
    b"PROXY TCP6 2001:DB8::7 2001:db8::1 0 65535\r\n": "2001:db8::7",
    b"PROXY TCP6 ::ffff:203.0.113.7 ::1 1 2\r\n": "203.0.113.7",
    b"PROXY UNKNOWN\r\n": "",
    LONGEST: "",
    binary(PROXY, TCP4, FOUR): "203.0.113.7",
    binary(PROXY, UDP4, FOUR): "203.0.113.7",
    binary(PROXY, TCP6, SIX): "2001:db8::7",
    binary(PROXY, TCP6, MAPPED): "203.0.113.7",
    binary(PROXY, TCP4, FOUR + TLV): "203.0.113.7",
    binary(PROXY, TCP4, FOUR + b"x" * 8000): "203.0.113.7",
    binary(PROXY, UNSPEC): "",
    binary(PROXY, UNSPEC, TLV): "",
    binary(PROXY, UNIX, bytes(216)): "",
    binary(LOCAL, UNSPEC): "",
    binary(LOCAL, TCP4, FOUR): "",
}
BROKEN = [
    HTTP,  # http-at-once
    b"\r\n" + HTTP,  # blank-line
    b"proxy TCP4 203.0.113.7 192.0.2.1 1 2\r\n",  # v1-lower-case
    b"PROXY TCP4 203.0.113.7 192.0.2.1 1\r\n",  # v1-without-port
    b"PROXY TCP4 203.0.113.7 192.0.2.1 1 2 3\r\n",  # v1-too-much
    b"PROXY TCP4  203.0.113.7 192.0.2.1 1 2\r\n",  # v1-two-spaces
    b"PROXY TCP4 203.0.113.7 192.0.2.1 65536 2\r\n",  # v1-port
    b"PROXY TCP4 203.0.113.7 192.0.2.1 01 2\r\n",  # v1-leading-zero
    b"PROXY TCP4 203.0.113.256 192.0.2.1 1 2\r\n",  # v1-no-address
    b"PROXY TCP4 2001:db8::7 2001:db8::1 1 2\r\n",  # v1-other-family
    b"PROXY TCP6 203.0.113.7 192.0.2.1 1 2\r\n",  # v1-other-family-6
    b"PROXY TCP6 203.0.113.7:1 ::1 1 2\r\n",  # v1-port-in-address
    b"PROXY UDP4 203.0.113.7 192.0.2.1 1 2\r\n",  # v1-no-such-transport
    b"PROXY TCP4 203.0.113.7 192.0.2.1 1 2\n" + HTTP,  # v1-bare-line-feed
    b"PROXY UNKNOWN".ljust(107, b" "),  # v1-without-end
    b"PROXY UNKNOWN".ljust(106, b" ") + b"\r\n",  # v1-too-long
    binary(0x11, TCP4, FOUR),  # v2-other-version
    binary(0x22, TCP4, FOUR),  # v2-other-command
    binary(PROXY, 0x13, FOUR),  # v2-other-transport
    binary(PROXY, 0x41, FOUR),  # v2-other-family
    binary(PROXY, TCP4, FOUR[:-1]),  # v2-too-short
    binary(PROXY, TCP6, FOUR),  # v2-too-short-6
    binary(PROXY, UNIX, bytes(215)),  # v2-too-short-unix
    binary(PROXY, TCP4, FOUR, length=8193),  # v2-too-long
    SIGNATURE[:-1] + b"\r" + bytes(16),  # v2-signature
]
