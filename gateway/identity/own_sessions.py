"""Sessions: who calls, where else they are signed in, and how a session ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.core.errors import ServiceError
from gateway.core.sessions import Session, SignedInUser, person
from gateway.core.user_errors import NOT_FOUND, TOKEN_INVALID
from gateway.identity.context import IdentityContext, is_valid


@dataclass(frozen=True, slots=True)
class OwnSessions:
    """What users do about their own sessions."""

    context: IdentityContext

    async def authenticate(self, access_token: str) -> SignedInUser:
        """
        Return the caller of a token. Each call reads the session, so its end counts at once.

        Raises:
            ServiceError: TOKEN_INVALID, whatever is wrong.
        """
        claims = await self.context.crypto.access.verify(access_token)
        now = self.context.now()
        found = await self.context.stores.sessions.find(claims.session_id)
        if found is None:
            raise ServiceError(TOKEN_INVALID, "session_unknown")
        session, user = found
        if not session.is_live(now):
            raise ServiceError(TOKEN_INVALID, "session_over")
        if user.id != claims.user_id or not is_valid(session, user):
            raise ServiceError(TOKEN_INVALID, "person_changed")
        if now - session.seen_at >= self.context.settings.touch:
            await self.context.stores.sessions.touch(session.id, now)
        return person(user, session)

    async def list(self, caller: SignedInUser) -> Sequence[Session]:
        """List your own sessions, oldest first."""
        return await self.context.stores.sessions.of(caller.user_id, self.context.now())

    async def end(self, caller: SignedInUser, session_id: str) -> None:
        """
        End one of your own sessions, with all of its tokens.

        Args:
            caller: Whose session it is.
            session_id: Its public id, or its own id.

        Raises:
            ServiceError: NOT_FOUND for one that has ended or is somebody else's.
        """
        if not await self.end_of(caller.actor, caller.user_id, session_id, "by_owner"):
            raise ServiceError(NOT_FOUND, "session")

    async def end_of(
        self, by: str, user_id: str, session_id: str, why: str = "by_administrator"
    ) -> bool:
        """
        End a session of any user; False for one that has ended or is somebody else's.

        Args:
            by: The administrator, as the audit log names them.
            user_id: Whose session it is.
            session_id: Its public id, or its own id.
            why: As it is on record.
        """
        for each in await self.context.stores.sessions.of(user_id, self.context.now()):
            if session_id in {each.id, each.public_id}:
                return await self._end(by, user_id, each.id, why)
        return False

    async def end_others(self, caller: SignedInUser) -> int:
        """End all of your own sessions except this one; return how many."""
        event = self.context.audit_event(
            caller.actor,
            "sessions.ended",
            f"user:{caller.user_id}",
            why="by_owner",
        )
        return await self.context.stores.sessions.end_all(
            caller.user_id, self.context.now(), "by_owner", caller.session_id, event
        )

    async def logout(self, caller: SignedInUser) -> None:
        """Sign out: the session and all of its tokens end at once; safe to repeat."""
        await self._end(caller.actor, caller.user_id, caller.session_id, "logout")

    async def _end(self, by: str, user_id: str, session_id: str, why: str) -> bool:
        """End a session; a failing store raises, so it never looks like success."""
        subject = f"user:{user_id}"
        event = self.context.audit_event(by, "session.ended", subject, session=session_id, why=why)
        ended = await self.context.stores.sessions.end(session_id, self.context.now(), why, event)
        self.context.crypto.access.forget(session_id)
        return ended
