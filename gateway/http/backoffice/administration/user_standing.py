"""How people stand: when they last signed in, and whether they are locked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.domain.identity.users import User
from gateway.operations.identity.throttling import Lockout


@dataclass(frozen=True, slots=True)
class Standing:
    """
    A person and how they stand.

    Attributes:
        signed_in_at: Their last sign-in that is still on record; None for none.
    """

    user: User
    signed_in_at: datetime | None
    lockout: Lockout | None


def standings(
    people: Sequence[User], signed_in: Mapping[str, datetime], locked: Mapping[str, Lockout]
) -> list[Standing]:
    """Put people together with what is known of them."""
    return [Standing(each, signed_in.get(each.id), locked.get(each.id)) for each in people]
