"""
Where a request comes from: the peer, or what our own proxies say of their caller.

What a stranger writes about itself is never believed: each proxy adds the address
that it saw on the right, so the rightmost one that is no proxy of ours is the client's.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, Literal

ClientAddress = Literal["peer", "forwarded", "proxy_protocol"]
"""Who tells it: the socket, the header ``X-Forwarded-For``, or a PROXY header before HTTP."""

Networks = tuple[IPv4Network | IPv6Network, ...]

FORWARDED: Final = "X-Forwarded-For"

_MOST_HOPS: Final = 32
"""Proxies of ours in a row; a longer way is nobody's, and costs time."""

_LONGEST: Final = len("[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535")


def plain(address: str) -> str:
    """Write an IPv4 address as such where the system shows it within IPv6; others stay."""
    if not address.startswith("::ffff:"):
        return address
    return read_address(address) or address


def is_within(address: str, networks: Networks) -> bool:
    """Say whether an address is in one of the networks; what is no address is in none."""
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
    if "%" in bare:  # the zone of another machine says nothing here
        return None
    try:
        read = ip_address(bare)
    except ValueError:
        return None
    mapped = read.ipv4_mapped if isinstance(read, IPv6Address) else None
    return str(mapped or read)


def forwarded_address(lines: Sequence[str], peer: str, trusted: Networks) -> str:
    """
    Return the rightmost address that is no proxy of ours.

    Args:
        lines: Every ``X-Forwarded-For`` of the request, in order.
        peer: Whose word this is; a trusted one, which the caller makes sure of.
        trusted: Networks of our own proxies.

    Returns:
        Where an entry is no address, the trusted hop that passed it on: what lies
        further left is not known by anybody we trust.
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
    """Take brackets and a port away."""
    if text.startswith("["):
        host, bracket, port = text[1:].partition("]")
        sound = bracket and ":" in host and (not port or _is_port(port))
        return host if sound else ""
    host, colon, port = text.partition(":")
    return host if colon and "." in host and _is_port(colon + port) else text


def _is_port(text: str) -> bool:
    """Say whether it is a colon and up to five digits."""
    return text.startswith(":") and text[1:].isascii() and text[1:].isdigit()
