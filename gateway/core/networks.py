"""Networks of addresses: the unit that one household or server owns."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_network
from typing import Final

# a household or a server gets a whole /64 of IPv6
_HOME_BITS: Final = 64


def network(address: str) -> str:
    """
    Return the network of an address: an IPv4 address itself, or the /64 of an IPv6 address.

    Otherwise the owner of a /64 would have as many tries as addresses. Text that
    is no address is returned unchanged.
    """
    if ":" not in address:  # most callers: IPv4, which costs nothing
        return address
    try:
        read = ip_address(address)
    except ValueError:
        return address
    if isinstance(read, IPv4Address):
        return address
    if read.ipv4_mapped is not None:
        return str(read.ipv4_mapped)
    return str(ip_network((read.packed, _HOME_BITS), strict=False))
