"""Rules of where a credential may be used: networks, client certificates, or anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_address, ip_network
from typing import Annotated, Final

from msgspec import Struct

from gateway.core.fields import meaning
from gateway.core.schemas import Text

MOST_NETWORKS: Final = 50
MOST_CERTIFICATES: Final = 5
"""Enough to change a certificate on several servers, one after the other."""

Network = IPv4Network | IPv6Network
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


class CallerRule(Struct, frozen=True, kw_only=True, cache_hash=True):
    """
    Where a credential may be used.

    A caller fits who comes from one of the networks and shows one of the certificates; an empty
    list does not limit. A rule that says nothing at all is not decided yet.
    """

    networks: Annotated[
        tuple[Text, ...],
        meaning(
            "Networks that it may be used from, at most 50; empty for no such limit.",
            ["203.0.113.0/24"],
        ),
    ] = ()
    certificates: Annotated[
        tuple[Text, ...],
        meaning(
            "SHA-256 fingerprints of client certificates of which the caller shows one, at most 5;"
            " empty for no such limit.",
            [],
        ),
    ] = ()
    anywhere: Annotated[
        bool, meaning("Whether it may be used anywhere; then there is neither of the others.")
    ] = False

    @property
    def is_decided(self) -> bool:
        """Whether the rule says anything."""
        return bool(self.anywhere or self.networks or self.certificates)

    def refusal(self, address: str, certificate: Callable[[], bytes]) -> str:
        """
        Return the reason why a caller does not fit; empty for one who fits.

        Args:
            address: The caller's, as ``server.client_address`` says.
            certificate: Reads it, in DER, from our own proxy; empty for none. It is read only
                where the rule has certificates: reading one takes longer than everything else.
        """
        if self.anywhere:
            return ""
        if self.networks:
            if not _is_within(self, address):
                return "network"
        elif not self.certificates:
            return "no_caller_rule"
        if self.certificates and _fingerprint(certificate()) not in self.certificates:
            return "certificate"
        return ""

    def widened_by(self, new: CallerRule) -> bool:
        """Return whether ``new`` admits a caller whom this rule refuses, or is the first rule."""
        if self.anywhere:
            return False
        if new.anywhere or not self.is_decided:
            return True
        return _widens_networks(self.networks, new.networks) or bool(
            self.certificates
            and not (new.certificates and set(new.certificates) <= set(self.certificates))
        )


ANYWHERE: Final = CallerRule(anywhere=True)
UNDECIDED: Final = CallerRule()


def read_networks(texts: Iterable[str]) -> tuple[str, ...]:
    """
    Read networks or single addresses, and return them in canonical form, each once.

    Raises:
        ValueError: one is no network or holds every address, or there are over 50.
    """
    read = {_network(text) for text in texts}
    if len(read) > MOST_NETWORKS:
        problem = f"at most {MOST_NETWORKS} networks"
        raise ValueError(problem)
    return tuple(sorted(map(str, read)))


def read_certificates(texts: Iterable[str]) -> tuple[str, ...]:
    """
    Read SHA-256 fingerprints of certificates, with or without colons, each once.

    Raises:
        ValueError: one has not 64 hexadecimal digits, or there are over 5.
    """
    read = {text.strip().replace(":", "").lower() for text in texts}
    if len(read) > MOST_CERTIFICATES or not all(map(_DIGEST.fullmatch, read)):
        problem = f"at most {MOST_CERTIFICATES} SHA-256 fingerprints of 64 hexadecimal digits each"
        raise ValueError(problem)
    return tuple(sorted(read))


def _network(text: str) -> Network:
    """Read a network; bits of the host are dropped, and an address is a network of one."""
    found = ip_network(text.strip(), strict=False)
    if found.prefixlen == 0:
        problem = f"{text} holds every address: say anywhere"
        raise ValueError(problem)
    return found


@lru_cache(maxsize=1_000)
def _fingerprint(certificate: bytes) -> str:
    """Return the SHA-256 of a certificate; kept, as addresses are."""
    return sha256(certificate).hexdigest()


@lru_cache(maxsize=10_000)
def _is_within(rule: CallerRule, address: str) -> bool:
    """
    Return whether a network holds the address; kept, since a caller comes again.

    By the rule, which remembers its hash: that of fifty networks takes longer than the look-up.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in map(ip_network, rule.networks))


def _widens_networks(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether the new networks reach beyond all old ones together."""
    if not old or not new:
        return bool(old)
    known = _collapsed(old)
    return not all(any(_holds(each, wanted) for each in known) for wanted in map(ip_network, new))


def _collapsed(networks: Sequence[str]) -> Sequence[Network]:
    """Join neighbours, so that two halves hold their whole."""
    read = list(map(ip_network, networks))
    fours = collapse_addresses(each for each in read if isinstance(each, IPv4Network))
    sixes = collapse_addresses(each for each in read if isinstance(each, IPv6Network))
    return [*fours, *sixes]


def _holds(known: Network, wanted: Network) -> bool:
    if isinstance(known, IPv4Network):
        return isinstance(wanted, IPv4Network) and wanted.subnet_of(known)
    return isinstance(wanted, IPv6Network) and wanted.subnet_of(known)
