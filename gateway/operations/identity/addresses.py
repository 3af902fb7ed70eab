"""Addresses: an e-mail as a person is known by, and the network somebody comes from."""

from __future__ import annotations

import ipaddress
import re

from gateway.domain.strict import Malformed

_LONGEST = 254
_HOME_BITS = 64
_EMAIL = re.compile(
    r"[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}",
    re.ASCII,
)


def email(text: str) -> str:
    """Read an address into lower case; ``Malformed`` when it is none."""
    lowered = text.strip().lower()
    if len(lowered) > _LONGEST or _EMAIL.fullmatch(lowered) is None:
        raise Malformed
    return lowered


def as_typed(text: str) -> str:
    """Read what somebody signs in with: a text that is no address is nobody's."""
    return text.strip().lower()


def network(address: str) -> str:
    """
    Return what one household or server has: an IPv4 address, or 64 bits of an IPv6 one.

    Who has so many addresses would else have as many tries. What is no address
    stands for itself.
    """
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return address
    if read.version == 4:  # noqa: PLR2004 - the name of a protocol
        return address
    if read.ipv4_mapped is not None:
        return str(read.ipv4_mapped)
    return str(ipaddress.ip_network((read.packed, _HOME_BITS), strict=False))
