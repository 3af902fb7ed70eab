"""Networks of addresses: the unit that one household or server owns."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_network
from typing import Final

# a household or a server gets a whole /64 of IPv6
_HOME_BITS: Final = 64
# Carriers give telephones addresses out of a pool: another one of it is no other place.
_POOL_BITS_4: Final = 24
_POOL_BITS_6: Final = 48


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


def site(address: str) -> str:
    """
    Return the site of an address: an IPv4 address itself, or the /48 of an IPv6 address.

    Providers give one customer networks of up to a /48, which has 65,536 times a /64. Text that is
    no address is returned unchanged.
    """
    own = network(address)
    return own if own == address or ":" not in own else pool(address)


def pool(address: str) -> str:
    """
    Return the pool of an address: the /24 of an IPv4 address, the /48 of an IPv6 address.

    A session stays in it while a telephone or a router gets a new address of its carrier. Text
    that is no address is returned unchanged.
    """
    try:
        read = ip_address(address)
    except ValueError:
        return address
    if not isinstance(read, IPv4Address):
        if read.ipv4_mapped is None:
            return str(ip_network((read.packed, _POOL_BITS_6), strict=False))
        read = read.ipv4_mapped
    return str(ip_network((read.packed, _POOL_BITS_4), strict=False))
