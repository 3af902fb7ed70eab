"""Sessions: who calls, where else they are signed in, and how a session ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.domain.identity.errors import NOT_FOUND, TOKEN_INVALID
from gateway.domain.identity.sessions import Session, SignedInUser, person
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.strict import Malformed, uuid_text
from gateway.operations.identity.ports import IdentityContext
from gateway.operations.identity.user_changes import audit_event, is_valid


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
        """Return the caller's live sessions, oldest first."""
        return await self.context.stores.sessions.of(caller.user_id, self.context.now())

    async def end(self, caller: SignedInUser, session_id: str) -> None:
        """
        End one of the caller's sessions.

        Raises:
            ServiceError: NOT_FOUND for one that has ended or is somebody else's.
        """
        try:
            wanted = uuid_text(session_id)
        except Malformed as problem:
            raise ServiceError(NOT_FOUND, "session") from problem
        mine = {each.id for each in await self.list(caller)}
        if wanted not in mine or not await self._end(caller, wanted, "by_owner"):
            raise ServiceError(NOT_FOUND, "session")

    async def end_others(self, caller: SignedInUser) -> int:
        """End every session of the caller but this one; return how many."""
        return await self._end_all(caller, keep=caller.session_id)

    async def end_all(self, caller: SignedInUser) -> int:
        """End every session of the caller; return how many."""
        return await self._end_all(caller, keep="")

    async def logout(self, caller: SignedInUser) -> None:
        """End this session with all of its tokens; safe to repeat."""
        await self._end(caller, caller.session_id, "logout")

    async def _end(self, caller: SignedInUser, session_id: str, why: str) -> bool:
        """End a session; a failing store raises, so it never looks like success."""
        event = audit_event(
            self.context,
            caller.actor,
            "session.ended",
            f"user:{caller.user_id}",
            session=session_id,
            why=why,
        )
        ended = await self.context.stores.sessions.end(session_id, self.context.now(), why, event)
        self.context.crypto.access.forget(session_id)
        return ended

    async def _end_all(self, caller: SignedInUser, keep: str) -> int:
        """End all sessions but ``keep``."""
        event = audit_event(
            self.context,
            caller.actor,
            "sessions.ended",
            f"user:{caller.user_id}",
            why="by_owner",
        )
        now = self.context.now()
        return await self.context.stores.sessions.end_all(
            caller.user_id, now, "by_owner", keep, event
        )


@dataclass(frozen=True, slots=True)
class UserSessions:
    """The sessions of any user, for administrators; ``by`` is the actor in the audit log."""

    context: IdentityContext

    async def list(self, user_id: str) -> Sequence[Session]:
        """Return a user's live sessions, oldest first."""
        return await self.context.stores.sessions.of(user_id, self.context.now())

    async def end(self, by: str, session: Session) -> bool:
        """End a session with all of its tokens; False when it has already ended."""
        event = audit_event(
            self.context,
            by,
            "session.ended",
            f"user:{session.user_id}",
            session=session.id,
            why="by_administrator",
        )
        now = self.context.now()
        ended = await self.context.stores.sessions.end(session.id, now, "by_administrator", event)
        self.context.crypto.access.forget(session.id)
        return ended
