"""Roles and second factor, read from the claims of an ID token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gateway.core.rights import Role
from gateway.single_sign_on.model import IdentityProvider

Claims = Mapping[str, object]


def roles_given(provider: IdentityProvider, claims: Claims) -> frozenset[Role]:
    """Return the roles that the mapping gives for the claim's values; none without the claim."""
    values = frozenset(_texts(_value(claims, provider.claim)))
    return frozenset(each.role for each in provider.mapping if each.value in values)


def is_factor_proven(provider: IdentityProvider, claims: Claims) -> bool:
    """Return whether ``acr`` or ``amr`` says so in words that the company trusts."""
    by_class = claims.get("acr") in provider.factor_acr
    return by_class or not frozenset(_texts(claims.get("amr"))).isdisjoint(provider.factor_amr)


def text_of(claims: Claims, name: str) -> str:
    """Return a claim that is a text, as it is; empty for any other."""
    value = claims.get(name)
    return value if isinstance(value, str) else ""


def _value(claims: Claims, name: str) -> object:
    """Return a claim by its name, which may have points, or by points that lead into objects."""
    if name in claims:
        return claims[name]
    found: object = claims
    for step in name.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(step)
    return found


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a claim that is one, or a list of them."""
    several: Sequence[object] = value if isinstance(value, list) else [value]
    yield from (each for each in several if isinstance(each, str))
