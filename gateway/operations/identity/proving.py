"""Passwords looked at: throttled, and with the same work whoever is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.errors import ServiceError
from gateway.domain.people import User
from gateway.operations.identity.addresses import as_typed
from gateway.operations.identity.ports import Parts
from gateway.operations.identity.throttling import Throttle


@dataclass(frozen=True, slots=True)
class Proving:
    """Finds out whether a person knows their password."""

    parts: Parts

    async def by_email(self, email: str, password: str, address: str) -> User | None:
        """
        Return whose address and password these are; None for nobody's.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        key = as_typed(email)
        throttle = Throttle(self.parts)
        await throttle.password(key, address)
        user = await self.parts.stored.users.find_by_email(key)
        stored = user.password if user is not None and user.active else ""
        try:
            right = await self.parts.crafts.hashing.matches(password, stored)
        except ServiceError:
            await throttle.password_unseen(key, address)
            raise
        if user is None or not right:
            self.parts.notice("authn_login_fail", "")
            return None
        await throttle.password_right(key, address)
        return user
