"""
Where a request comes from: the peer, or what our own proxies say of their caller.

What a client says about itself is never believed. Each proxy appends the address that
it saw, so the rightmost address that is not one of our proxies is the client's.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, Literal

ClientAddress = Literal["peer", "forwarded", "proxy_protocol"]
"""Its source: the socket, the header ``X-Forwarded-For``, or a PROXY header before HTTP."""

Networks = tuple[IPv4Network | IPv6Network, ...]

FORWARDED: Final = "X-Forwarded-For"

_MOST_HOPS: Final = 32
"""Proxies in a row. Nobody has more, and reading a longer list costs time."""

_LONGEST: Final = len("[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535")


def without_mapping(address: str) -> str:
    """Return an IPv4 address that the system shows as IPv6 (``::ffff:…``) in its own form."""
    if not address.startswith("::ffff:"):
        return address
    return read_address(address) or address


def is_within(address: str, networks: Networks) -> bool:
    """Is the address in one of the networks? Text that is no address is in none."""
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
    bare = _without_port(text) if len(text) <= _LONGEST else ""
    if "%" in bare:  # a zone names an interface of the other machine
        return None
    try:
        read = ip_address(bare)
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
        If an entry is no address, the trusted proxy that passed it on: nobody we
        trust knows what is further left.
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


def _without_port(text: str) -> str:
    """Remove brackets and a port."""
    if text.startswith("["):
        host, bracket, port = text[1:].partition("]")
        sound = bracket and ":" in host and (not port or _is_port(port))
        return host if sound else ""
    host, colon, port = text.partition(":")
    return host if colon and "." in host and _is_port(colon + port) else text


def _is_port(text: str) -> bool:
    """Is it a colon and digits?"""
    return text.startswith(":") and text[1:].isascii() and text[1:].isdigit()
