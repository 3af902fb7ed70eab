"""Refreshing: one token for the next pair, once (contract 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.errors import ServiceError
from gateway.domain.identity import RefreshToken
from gateway.domain.identity_errors import REFRESH_INVALID
from gateway.domain.people import Session, User
from gateway.operations.identity.acts import holds, own_act
from gateway.operations.identity.answers import TokenPair
from gateway.operations.identity.ports import Parts
from gateway.operations.identity.tokens import TokenIssuer


@dataclass(frozen=True, slots=True)
class Refreshing:
    """Exchanges refresh tokens."""

    parts: Parts

    async def refresh(self, refresh_token: str) -> TokenPair:
        """
        Use a refresh token up for a new pair; of several callers at once, one gets it.

        The token just before the newest, shown again within ten seconds, fails
        its caller and nobody else. Any other used one ends the session: somebody
        has a copy.

        Raises:
            ServiceError: REFRESH_INVALID, whatever is wrong.
        """
        digest = self.parts.crafts.opaque.digest(refresh_token)
        token = await self.parts.stored.sessions.refresh_token(digest)
        if token is None:
            raise ServiceError(REFRESH_INVALID, "unknown")
        session, user = await self._session(token)
        if token.used_at is None:
            pair = await TokenIssuer(self.parts).rotate(session, token)
            if pair is not None:
                return pair
            token = await self.parts.stored.sessions.refresh_token(digest)
        if token is not None and token.used_at is not None:
            await self._shown_again(token, session, user)
        raise ServiceError(REFRESH_INVALID, "used")

    async def _session(self, token: RefreshToken) -> tuple[Session, User]:
        """Return the live session of a token, and whose it is."""
        now = self.parts.now()
        found = await self.parts.stored.sessions.find(token.session_id)
        if found is None or not found[0].is_live(now) or now >= token.ends_at:
            raise ServiceError(REFRESH_INVALID, "session_over")
        if not holds(*found):
            raise ServiceError(REFRESH_INVALID, "person_changed")
        return found

    async def _shown_again(self, token: RefreshToken, session: Session, user: User) -> None:
        """Tell a race from a theft, and end the session for a theft."""
        now, sessions = self.parts.now(), self.parts.stored.sessions
        age = now - token.used_at if token.used_at else None
        newest = await sessions.last_number(session.id)
        in_time = age is not None and age <= self.parts.rules.grace
        if in_time and token.number == newest - 1:
            return
        event = own_act(self.parts, user, "session.token_reuse", session=session.id)
        ended = await sessions.end(session.id, now, "token_reuse", event)
        self.parts.crafts.access.forget(session.id)
        if ended:
            self.parts.notice("authn_token_reuse", user.id)
