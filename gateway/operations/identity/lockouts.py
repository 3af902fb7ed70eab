"""Who is locked out for being wrong too often, and letting them in again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.domain.people import User
from gateway.operations.identity.acts import act
from gateway.operations.identity.limits import blocked_for
from gateway.operations.identity.ports import Parts
from gateway.operations.identity.throttling import factor_key, password_keys


@dataclass(frozen=True, slots=True)
class Lockout:
    """
    Somebody's door is shut.

    Attributes:
        until: When it opens by itself; None where only a reset or an
            administrator opens it.
    """

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Lockouts:
    """
    Looks at what is counted in a person's name, and forgets it.

    What is counted of one network alone shuts nobody out elsewhere, is not
    shown, and ends by itself.
    """

    parts: Parts

    async def of(self, users: Sequence[User]) -> Mapping[str, Lockout]:
        """Return who of these is locked out now, by id."""
        owners = {key: user.id for user in users for key in _keys(user)}
        now, longest = self.parts.now(), self.parts.rules.throttles.longest_block
        found: dict[str, Lockout] = {}
        for failures in await self.parts.stored.failures.find(list(owners)):
            left, owner = blocked_for(failures, now), owners[failures.key]
            if not left:
                continue
            until = failures.blocked_until if left <= longest else None
            known = found.get(owner)
            if known is None or (known.until and (until is None or until > known.until)):
                found[owner] = Lockout(until)
        return found

    async def lift(self, by: str, user: User) -> None:
        """Forget what was wrong in a person's name; safe to repeat, and always on record."""
        await self.parts.stored.failures.clear(_keys(user))
        event = act(self.parts, by, "user.unlocked", f"user:{user.id}")
        await self.parts.stored.audit.append(event)
        self.parts.notice("user_unlocked", user.id)


def _keys(user: User) -> list[str]:
    return [*password_keys(user.email), factor_key(user.id)]
