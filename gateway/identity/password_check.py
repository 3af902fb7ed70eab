"""Passwords as they are typed, checked against those on record."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.core.browsers import ClientInfo, KnownBrowser
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.identity.context import IdentityContext
from gateway.identity.throttling import Attempt, Throttle


def normalized_email(text: str) -> str:
    """Normalize a sign-in's e-mail address; an invalid one matches no user."""
    return text.strip().lower()


@dataclass(frozen=True, slots=True)
class PasswordCheck:
    """Checks passwords: throttled, and with the same work for users that do not exist."""

    context: IdentityContext

    async def by_email(self, email: str, password: str, client: ClientInfo) -> User | None:
        """
        Return the user with this address and password; None when they do not match.

        Strangers have few places, asked for before the store is touched.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        with self.context.crypto.hashing.place(is_stranger=client.known is None):
            user, held_s = await self._checked(normalized_email(email), password, client)
        if held_s:
            await self.context.pause(held_s)
        return user

    async def _checked(
        self, key: str, password: str, client: ClientInfo
    ) -> tuple[User | None, float]:
        """Check a password; also return how long the answer is held back."""
        user = await self.context.stores.users.find_by_email(key)
        user_id = "" if user is None else user.id
        throttle = Throttle(self.context, user_id)
        attempt = await throttle.password(
            Attempt(email=key, address=client.address, browser=_browser(user, client))
        )
        stored = user.password if user is not None and user.active else ""
        try:
            right = await self.context.crypto.hashing.matches(
                password, stored, is_stranger=client.known is None
            )
        except ServiceError:
            await throttle.password_unchecked(attempt)
            raise
        if user is None or not right:
            self.context.events.on_security_event("authn_login_fail", user_id)
            return None, attempt.held_s
        await throttle.password_accepted(attempt)
        return user, attempt.held_s

    async def by_caller(
        self, caller: SignedInUser, password: str, client: ClientInfo
    ) -> User | None:
        """
        Return the signed-in user if this is their password; None if not.

        Their session counts as a known browser: strangers' guesses elsewhere do not
        lock them out here.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        here = KnownBrowser(user_id=caller.user_id, id=caller.session_id)
        return await self.by_email(caller.email, password, replace(client, known=here))


def _browser(user: User | None, client: ClientInfo) -> str:
    """Return the id of a browser known for this very user; empty for any other."""
    known = client.known
    return known.id if user is not None and known is not None and known.user_id == user.id else ""
