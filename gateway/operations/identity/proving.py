"""Passwords looked at: throttled, and with the same work whoever is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.domain.browsers import KnownBrowser
from gateway.domain.errors import ServiceError
from gateway.domain.people import Person, User
from gateway.operations.identity.addresses import as_typed
from gateway.operations.identity.answers import Visitor
from gateway.operations.identity.ports import Parts
from gateway.operations.identity.throttling import Attempt, Throttle


@dataclass(frozen=True, slots=True)
class Proving:
    """Finds out whether a person knows their password."""

    parts: Parts

    async def by_email(self, email: str, password: str, visitor: Visitor) -> User | None:
        """
        Return whose address and password these are; None for nobody's.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        key = as_typed(email)
        user = await self.parts.stored.users.find_by_email(key)
        meant = "" if user is None else user.id
        throttle = Throttle(self.parts, meant)
        attempt = await throttle.password(
            Attempt(email=key, address=visitor.address, browser=_browser(user, visitor))
        )
        stored = user.password if user is not None and user.active else ""
        try:
            right = await self.parts.crafts.hashing.matches(password, stored)
        except ServiceError:
            await throttle.password_unseen(attempt)
            raise
        if user is None or not right:
            self.parts.notice("authn_login_fail", meant)
            return None
        await throttle.password_right(attempt)
        return user

    async def by_caller(self, caller: Person, password: str, visitor: Visitor) -> User | None:
        """
        Return who is signed in, if this is their password; None if not.

        Their session is known for them: what strangers guess elsewhere does not count here.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        here = KnownBrowser(user_id=caller.user_id, id=caller.session_id)
        return await self.by_email(caller.email, password, replace(visitor, known=here))


def _browser(user: User | None, visitor: Visitor) -> str:
    """Name the browser if it is known for this very person; empty for any other."""
    known = visitor.known
    return known.id if user is not None and known is not None and known.user_id == user.id else ""
