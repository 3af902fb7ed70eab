"""
Address checks of providers: a configured address must not lead into our own network.

A bank is called over https at its known hosts of our environment, and outside the sandbox only
where their names resolve to public addresses. Simulators are on this machine.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from yarl import URL

from gateway.banks.port.capabilities import Hosts
from gateway.core.account import Environment

_IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
"""All that IANA has given out as global unicast; the rest is local wherever it is routed at all."""
# Special too (RFC 6890), whatever the Python that runs this knows of it.
_SPECIAL: Final = tuple(
    ipaddress.ip_network(each) for each in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")
)


class Flaw(StrEnum):
    """Defect of an address."""

    NOT_HTTPS = "must be https"
    NOT_LOOPBACK = "must be a loopback address"
    NO_ADDRESS = "is not an address"
    NOT_HTTP = "is not an http or https address"
    CREDENTIALS = "must not carry credentials"
    QUERY = "must have neither query nor fragment"
    PRODUCTION_HOST = "is the bank's production host, and the environment is sandbox"
    SANDBOX_HOST = "is the bank's sandbox host, and the environment is production"
    UNKNOWN_HOST = "is no host of the bank in this environment"
    THIS_MACHINE = "is this machine, which only the sandbox environment may call"


class AddressRefused(ValueError):
    """A provider's address is not allowed; the message states the defect."""


def loopback_address(text: str) -> str:
    """
    Return a base address on this machine, without the last slash.

    Raises:
        AddressRefused: for any other address.
    """
    url = _plain(text)
    if not _is_loopback(url):
        raise AddressRefused(Flaw.NOT_LOOPBACK)
    return str(url).rstrip("/")


def bank_address(text: str, environment: Environment, hosts: Hosts) -> str:
    """
    Return the base address of a bank whose hosts are known, without the last slash.

    This machine may be called in the sandbox environment, over http too: a simulator
    listens there. Every other address must be https and one of the environment's hosts.

    Raises:
        AddressRefused: for any other address; the message states the defect and quotes nothing.
    """
    url = _plain(text)
    if _is_loopback(url):
        if environment is not Environment.SANDBOX:
            raise AddressRefused(Flaw.THIS_MACHINE)
        return str(url).rstrip("/")
    known = hosts.environment_of((url.host or "").lower().rstrip("."))
    if known is None:
        raise AddressRefused(Flaw.UNKNOWN_HOST)
    if known is not environment:
        is_production = known is Environment.PRODUCTION
        raise AddressRefused(Flaw.PRODUCTION_HOST if is_production else Flaw.SANDBOX_HOST)
    if url.scheme != "https":
        raise AddressRefused(Flaw.NOT_HTTPS)
    return str(url).rstrip("/")


def is_public(address: _IPAddress) -> bool:
    """Return whether the address is public. An IPv4 address embedded in IPv6 is checked instead."""
    meant = effective_address(address)
    if isinstance(meant, ipaddress.IPv6Address) and meant not in _UNICAST:
        return False
    is_special = meant.is_multicast or any(meant in each for each in _SPECIAL)
    return meant.is_global and not is_special


def effective_address(address: _IPAddress) -> _IPAddress:
    """Return the IPv4 address that is embedded in one of IPv6, where packets are sent to that."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def require_public(hosts: Iterable[str]) -> None:
    """
    Refuse non-public resolved addresses; called for every connection, as names can be rebound.

    Raises:
        OSError: One of the addresses is not public, and each of them may be the one connected to.
    """
    for host in hosts:
        if not is_public(ipaddress.ip_address(host.partition("%")[0])):
            problem = "the name resolves to a private address"
            raise OSError(problem)


def _plain(text: str) -> URL:
    try:
        url = URL(text)
    except ValueError as problem:
        raise AddressRefused(Flaw.NO_ADDRESS) from problem
    if url.scheme not in {"http", "https"} or not url.host:
        raise AddressRefused(Flaw.NOT_HTTP)
    if url.user is not None or url.password is not None:
        raise AddressRefused(Flaw.CREDENTIALS)
    if url.query_string or url.fragment:
        raise AddressRefused(Flaw.QUERY)
    return url


def _is_loopback(url: URL) -> bool:
    """Return whether the host is this machine, without a look-up: addresses and ``localhost``."""
    literal = read_literal(url.host or "")
    return url.host == "localhost" if literal is None else literal.is_loopback


def read_literal(host: str) -> _IPAddress | None:
    """Return the host if it is an address and not a name; a zone does not count."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
