"""The demo's people: one for each role and three approvers, all but the viewer with an app."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from gateway.domain.identity.rights import Role
from gateway.domain.identity.users import Totp, User
from gateway.domain.kernel.storage import AlreadyExists
from gateway.operations.identity.ports import IdentityContext
from gateway.operations.identity.second_factors import totp_row
from gateway.operations.identity.user_changes import audit_event
from provider_adapters.testing.demo.document import Demo

_ACTOR = "system"
_WITHOUT_FACTOR = frozenset({Role.VIEWER})
"""Who signs in with a password alone, so that both ways can be tried."""

PEOPLE: Final[Mapping[str, Role]] = {
    **{role.value: role for role in Role},
    "approver2": Role.APPROVER,
    "approver3": Role.APPROVER,
}
"""
Who there is, by name. A payout without a proof is judged by two approvers; where they differ, or
one of them approved the payout, by a third.
"""


def new_people(
    parts: IdentityContext, kept: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Choose address, password and app for everybody who is missing; keep the others."""
    return {
        name: dict(kept[name]) if name in kept else _somebody(parts, name, role)
        for name, role in PEOPLE.items()
    }


async def ensure(parts: IdentityContext, demo: Demo) -> None:
    """Make who is missing, and put right who was changed; safe to repeat."""
    for name, role in PEOPLE.items():
        await _person(parts, name, role, demo["users"][name])


def _somebody(parts: IdentityContext, name: str, role: Role) -> dict[str, str]:
    chosen = {"email": f"{name}@example.com", "password": parts.crypto.opaque.make()[:24]}
    if role not in _WITHOUT_FACTOR:
        chosen["totp_secret"] = parts.crypto.one_time.new_secret()
    return chosen


async def _person(parts: IdentityContext, name: str, role: Role, wanted: Mapping[str, str]) -> None:
    found = await parts.stores.users.find_by_email(wanted["email"])
    if found is None:
        user = await _as_wanted(parts, role, wanted, _stranger(parts, name, role, wanted))
        event = audit_event(parts, _ACTOR, "user.created", f"user:{user.id}", demo=role.value)
        with suppress(AlreadyExists):  # another process is making the same demo
            await parts.stores.users.add(user, event)
    elif not await _is_as_wanted(parts, role, wanted, found):
        user = await _as_wanted(parts, role, wanted, found)
        event = audit_event(parts, _ACTOR, "user.updated", f"user:{user.id}", demo=role.value)
        await parts.stores.users.replace(user, event)


def _stranger(parts: IdentityContext, name: str, role: Role, wanted: Mapping[str, str]) -> User:
    now = parts.now()
    return User(
        id=parts.new_id(),
        email=wanted["email"],
        name=f"Demo {name}",
        password="",
        roles=frozenset({role}),
        created_at=now,
        updated_at=now,
    )


async def _as_wanted(
    parts: IdentityContext, role: Role, wanted: Mapping[str, str], user: User
) -> User:
    """Give a person the role, the password and the app that are printed."""
    totp = None
    if secret := wanted.get("totp_secret"):
        sealed = parts.crypto.sealing.seal(secret, totp_row(user.id))
        totp = Totp(sealed_secret=sealed, confirmed_at=parts.now())
    return replace(
        user,
        password=await parts.crypto.hashing.make(wanted["password"]),
        roles=frozenset({role}),
        companies=frozenset(),
        active=True,
        totp=totp,
        factor_reset=False,
        updated_at=parts.now(),
    )


async def _is_as_wanted(
    parts: IdentityContext, role: Role, wanted: Mapping[str, str], user: User
) -> bool:
    """Say whether what is printed opens the door."""
    plain = user.active and user.roles == {role} and not user.companies
    if not plain or _secret(parts, user) != wanted.get("totp_secret"):
        return False
    return await parts.crypto.hashing.matches(wanted["password"], user.password)


def _secret(parts: IdentityContext, user: User) -> str | None:
    """Open a person's secret; None for nobody's, and for one sealed under another key."""
    if user.totp is None or user.totp.confirmed_at is None:
        return None
    try:
        return parts.crypto.sealing.open(user.totp.sealed_secret, totp_row(user.id))
    except Exception:  # noqa: BLE001 - whatever a sealing calls it: it cannot be read
        return ""
