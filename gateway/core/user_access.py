"""Checks of a user's rights and second factor."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.rights import Right, Role, changes
from gateway.core.sessions import SignedInUser
from gateway.core.user_errors import FORBIDDEN, STEP_UP_REQUIRED

FRESH: Final = timedelta(minutes=5)
"""How long a second factor counts as just given."""

NETWORK_NEW: Final = "network_new"
"""The reason of a refusal: the session has proven at other networks alone who uses it."""

LEAVING: Final = "leaving"
"""Signing out is never refused by a quota."""
CONFIRMING: Final = "confirming"
"""Giving a code has limits of its own, and no part in the quota that others of a user draw from."""
ANYWHERE: Final = frozenset({LEAVING, CONFIRMING})
"""Quotas of calls that are served at a network which is new to the session."""

_ENROL = "enrol a second factor first, at auth/totp or auth/passkeys; your role asks for one"


def check_right(person: SignedInUser, needed: Right) -> None:
    """Refuse a user whose rights do not cover the needed one: ``FORBIDDEN``."""
    if not person.may(needed):
        raise ServiceError(FORBIDDEN, "permission")


def check_enrolled(person: SignedInUser, needed: Right, roles: Collection[Role]) -> None:
    """Refuse a change by a user of these roles who has no second factor: ``STEP_UP_REQUIRED``."""
    if changes(needed) and person.lacks_factor(roles):
        raise ServiceError(STEP_UP_REQUIRED, "no_factor", detail=_ENROL)


def check_network(person: SignedInUser, address: str, lacking_factor: ErrorCode) -> None:
    """
    Refuse a session at a network where its user has given no code.

    The session continues at its own networks: attempts elsewhere do not end it.

    Raises:
        ServiceError: ``STEP_UP_REQUIRED``; ``lacking_factor`` for a user without a second factor,
            who signs in there anew.
    """
    if not person.is_known_at(address):
        raise ServiceError(STEP_UP_REQUIRED if person.has_factor else lacking_factor, NETWORK_NEW)


def check_fresh_factor(person: SignedInUser, now: datetime) -> None:
    """Refuse a user whose second factor was not given just now: ``STEP_UP_REQUIRED``."""
    if not person.has_factor or person.factor_at is None:
        raise ServiceError(STEP_UP_REQUIRED, "no_factor")
    if not has_fresh_factor(person, now):
        raise ServiceError(STEP_UP_REQUIRED, "factor_old")


def has_fresh_factor(person: SignedInUser, now: datetime) -> bool:
    """Return whether a user gave a second factor just now."""
    at = person.factor_at if person.has_factor else None
    # ahead: given by a process with a wrong clock
    return at is not None and abs(now - at) <= FRESH
