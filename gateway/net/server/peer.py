"""
The peer of a connection: its address, its certificate, and the listener's limits.

Addresses in a client's own headers are never trusted. Each proxy appends the address that
it saw, so the rightmost address that is not one of our proxies is the client's.
"""

from __future__ import annotations

import binascii
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, Literal
from urllib.parse import unquote

from multidict import CIMultiDictProxy

from gateway.net.common.descriptors import NO_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """
    The limits below the application; the defaults are the contract's.

    Attributes:
        request_line_bytes: Method, target and version with the two spaces.
        header_line_bytes: One header: name, colon, space and value.
        headers: Header lines of one request, trailers included.
        head_bytes: Request line and headers together.
        header_deadline_s: From the connection's start, or from the first byte of
            a later request, until its headers are complete.
        body_deadline_s: From the first read of a body until its last byte.
        keepalive_s: How long a connection may stay idle between two requests.
        answer_deadline_s: How long a caller may take nothing of the answer it is sent.
        stream_deadline_s: How long an answer that is written piece by piece may take.
        linger_s: How long bytes are still read and thrown away after a refusal, so
            that the caller sees the answer and not a reset.
        connections_per_address: Open at once from one client address, or one /64 of IPv6.
        connections: Open at once in all.
        descriptors: A connection whose file descriptor has this number or a higher one is
            turned away: the rest is for the operations listener and for our own calls.
        trusted_peers: Networks of our own proxies. The limit per address does not
            apply to them; the limit in all does.
        client_address: Where the client's address comes from. Except for ``peer``,
            only ``trusted_peers`` are trusted.
        certificate_header: In which our proxies pass on their caller's certificate,
            used with ``forwarded`` alone: other proxies may hand the caller's own
            headers through. Empty for none.
    """

    # References and cursors in a target are long; nothing of ours comes near this.
    request_line_bytes: int = 16 * 1024
    # aiohttp's default, and close to that of most proxies.
    header_line_bytes: int = 8190
    # A proxy adds ten or so to the few that a partner sends.
    headers: int = 64
    # Four times what most servers take of all headers; a certificate in one has about 6 KiB.
    head_bytes: int = 32 * 1024
    header_deadline_s: float = 10.0
    body_deadline_s: float = 15.0
    # Longer than the 60 seconds of common proxies, which should be the ones to close.
    keepalive_s: float = 75.0
    answer_deadline_s: float = 60.0
    # A million lines in a spreadsheet's form, on a line of 4 Mbit/s. Whoever takes bytes slower
    # holds one of few turns: the answer is cut, and is seen to be.
    stream_deadline_s: float = 600.0
    # One round trip on a bad line, and little for a caller that never stops sending.
    linger_s: float = 2.0
    connections_per_address: int = 100
    connections: int = 10_000
    descriptors: int = NO_LIMIT
    trusted_peers: Networks = ()
    client_address: ClientAddress = "peer"
    certificate_header: str = ""


ClientAddress = Literal["peer", "forwarded", "proxy_protocol"]
"""Its source: the socket, the header ``X-Forwarded-For``, or a PROXY header before HTTP."""
Networks = tuple[IPv4Network | IPv6Network, ...]
FORWARDED: Final = "X-Forwarded-For"
_MOST_HOPS: Final = 32
"""Proxies in a row. Nobody has more, and reading a longer list costs time."""
# No zone, behind a percent sign: it names an interface of the other machine.
_WRITTEN: Final = re.compile(
    r"\[(?P<bracketed>[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)\](?::[0-9]+)?|(?P<four>[0-9.]+):[0-9]+"
    r"|(?P<bare>[0-9A-Fa-f:.]+)"
)
_LONGEST: Final = len("[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535")


class Peer:
    """
    The other end of a connection.

    Attributes:
        address: The socket's, or the client's from a PROXY header; empty when the system
            does not return it.
        is_proxy: Whether the socket's address is one of our proxies.
    """

    __slots__ = ("address", "is_proxy", "limits")

    def __init__(self, address: str, limits: ServerLimits) -> None:
        self.address = address
        self.limits = limits
        self.is_proxy = is_within(address, limits.trusted_peers)

    def client_address(self, headers: CIMultiDictProxy[str]) -> str:
        """Return the client's address: the peer's, or the address that our proxies name."""
        if not self.is_proxy or self.limits.client_address != "forwarded":
            return self.address
        return forwarded_address(
            headers.getall(FORWARDED, ()), self.address, self.limits.trusted_peers
        )

    def certificate(self, headers: CIMultiDictProxy[str]) -> bytes:
        """Return the caller's certificate if our proxy reported it; other peers' are ignored."""
        name = self.limits.certificate_header
        is_believed = self.is_proxy and self.limits.client_address == "forwarded"
        return forwarded_certificate(headers.getall(name, ())) if is_believed and name else b""


def without_mapping(address: str) -> str:
    """Return an IPv4 address that the system shows as IPv6 (``::ffff:…``) in its own form."""
    if not address.startswith("::ffff:"):
        return address
    return read_address(address) or address


def is_within(address: str, networks: Networks) -> bool:
    """Return whether the address is in one of the networks; text that is no address is in none."""
    try:
        read = ip_address(address)
    except ValueError:
        return False
    return any(read in network for network in networks)


def read_address(text: str) -> str | None:
    """
    Read an address as a proxy writes it, with or without a port; None for anything else.

    ``192.0.2.1``, ``192.0.2.1:5000``, ``2001:db8::1``, ``[2001:db8::1]``, ``[2001:db8::1]:5000``.
    """
    found = _WRITTEN.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    try:
        read = ip_address(found["bracketed"] or found["four"] or found["bare"])
    except ValueError:
        return None
    mapped = read.ipv4_mapped if isinstance(read, IPv6Address) else None
    return str(mapped or read)


def forwarded_address(lines: Sequence[str], peer: str, trusted: Networks) -> str:
    """
    Return the rightmost address that is not one of our proxies.

    Args:
        lines: Every ``X-Forwarded-For`` of the request, in order.
        peer: Who sent the request. The caller makes sure that it is one of our proxies.
        trusted: Networks of our own proxies.

    Returns:
        If an entry is no address, the trusted proxy that passed it on: no one we
        trust vouches for the entries further left.
    """
    known = peer
    for entry in reversed(",".join(lines).rsplit(",", _MOST_HOPS)):
        found = read_address(entry.strip(" \t"))
        if found is None:
            return known
        known = found
        if not is_within(found, trusted):
            return known
    return known


def forwarded_certificate(values: Sequence[str]) -> bytes:
    """
    Return a certificate in DER; empty for none, several, or a value that is none.

    Two spellings are read: that of RFC 9440, base64 of DER between colons (HAProxy,
    Caddy), and PEM in percent-encoding (nginx). Nothing is verified here: the proxy has
    checked that the caller holds its key.

    Args:
        values: Every value of the proxy's header. The caller makes sure that the
            request comes from one of our proxies.
    """
    return _der(values[0]) if len(values) == 1 else b""


@lru_cache(maxsize=1_000)
def _der(value: str) -> bytes:
    """Return the certificate in one value; kept, since a caller shows the same one each time."""
    text = value.strip(" \t")
    try:
        if text.startswith(":"):
            value = text[1:-1] if text.endswith(":") and text != ":" else "?"
            return binascii.a2b_base64(value, strict_mode=True)
        return ssl.PEM_cert_to_DER_cert(unquote(text, encoding="ascii", errors="strict"))
    except ValueError:
        return b""
