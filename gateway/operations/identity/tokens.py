"""Pairs of access and refresh tokens: issued at sign-in, exchanged later (contract 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from gateway.domain.identity.errors import PASSWORD_WRONG, REFRESH_INVALID
from gateway.domain.identity.sessions import (
    AccessClaims,
    RefreshToken,
    Session,
    SignedInUser,
    person,
)
from gateway.domain.identity.users import User
from gateway.domain.kernel.errors import ServiceError
from gateway.operations.identity.ports import Parts, Visitor
from gateway.operations.identity.user_changes import holds, own_act


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPair:
    """Tokens of one session; they are shown once and kept nowhere."""

    session_id: str
    access_token: str = field(repr=False)
    expires_at: datetime
    refresh_token: str = field(repr=False)
    refresh_expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person with a session."""

    tokens: TokenPair
    person: SignedInUser


_LONGEST_AGENT = 256


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """Issues pairs of an access and a refresh token."""

    parts: Parts

    async def begin(self, user: User, visitor: Visitor, factor_at: datetime | None) -> SignedIn:
        """
        Begin a session; of more than a person may have, the oldest ends.

        Raises:
            ServiceError: PASSWORD_WRONG when the person was changed since
                ``user`` was read: what they proved may not hold any more.
        """
        session = self._session(user, visitor, factor_at)
        pair, row = await self._pair(session, 1)
        event = own_act(
            self.parts,
            user,
            "session.began",
            session=session.id,
            address=session.address,
            factor="yes" if factor_at else "no",
        )
        await self.parts.stored.sessions.begin(session, row, event)
        await self._refuse_changed(user, session)
        await self._end_surplus(user)
        return SignedIn(pair, person(user, session))

    async def rotate(self, session: Session, old: RefreshToken) -> TokenPair | None:
        """Use up a refresh token for a new pair; None when somebody was quicker."""
        pair, row = await self._pair(session, old.number + 1)
        won = await self.parts.stored.sessions.rotate(old, row, row.created_at)
        return pair if won else None

    async def _pair(self, session: Session, number: int) -> tuple[TokenPair, RefreshToken]:
        """Make a pair of now, and what is kept of its refresh token."""
        now = self.parts.now()
        token, row = self._refresh_token(session, number, now)
        access, ends_at = await self._access(session, now)
        pair = TokenPair(
            session_id=session.id,
            access_token=access,
            expires_at=ends_at,
            refresh_token=token,
            refresh_expires_at=session.ends_at,
        )
        return pair, row

    def _session(self, user: User, visitor: Visitor, factor_at: datetime | None) -> Session:
        """Describe a sign-in of now."""
        now = self.parts.now()
        return Session(
            id=self.parts.new_id(),
            user_id=user.id,
            # never older than the latest change of the person, whatever another clock said
            created_at=max(now, user.updated_at),
            ends_at=now + self.parts.rules.refresh,
            seen_at=now,
            factor_at=factor_at,
            address=visitor.address,
            user_agent=_printable(visitor.user_agent),
            panel=visitor.panel,
        )

    def _refresh_token(
        self, session: Session, number: int, now: datetime
    ) -> tuple[str, RefreshToken]:
        """Make a refresh token and what is kept of it."""
        token = self.parts.crafts.opaque.make()
        return token, RefreshToken(
            digest=self.parts.crafts.opaque.digest(token),
            session_id=session.id,
            number=number,
            created_at=now,
            ends_at=session.ends_at,
        )

    async def _access(self, session: Session, now: datetime) -> tuple[str, datetime]:
        """Sign an access token, which never outlives its session."""
        ends_at = min(now + self.parts.rules.access, session.ends_at)
        claims = AccessClaims(
            user_id=session.user_id,
            session_id=session.id,
            token_id=self.parts.new_id(),
            ends_at=ends_at,
        )
        return await self.parts.crafts.access.issue(claims), ends_at.replace(microsecond=0)

    async def _refuse_changed(self, user: User, session: Session) -> None:
        """End a session begun while the person was changed; either we see it, or the change us."""
        found = await self.parts.stored.sessions.find(session.id)
        if found is not None and found[1].updated_at == user.updated_at and found[1].active:
            return
        event = own_act(self.parts, user, "session.ended", session=session.id, why="changed")
        await self.parts.stored.sessions.end(session.id, self.parts.now(), "changed", event)
        raise ServiceError(PASSWORD_WRONG, "person_changed")

    async def _end_surplus(self, user: User) -> None:
        """End the oldest sessions beyond the number; who signs in beside us ends the same ones."""
        now, stored = self.parts.now(), self.parts.stored
        live = await stored.sessions.of(user.id, now)
        for session in live[: max(0, len(live) - self.parts.rules.sessions)]:
            event = own_act(self.parts, user, "session.ended", session=session.id, why="surplus")
            await stored.sessions.end(session.id, now, "surplus", event)


def _printable(text: str) -> str:
    """Cut a user agent to what may be kept and shown."""
    return "".join(each for each in text[:_LONGEST_AGENT] if each.isprintable())


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
