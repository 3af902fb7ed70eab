"""Somebody else's sign-ins, as administrators see and end them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.domain.people import Session
from gateway.operations.identity.acts import act
from gateway.operations.identity.ports import Parts


@dataclass(frozen=True, slots=True)
class OthersSessions:
    """The sign-ins of anybody; ``by`` is who acts, as the audit log names them."""

    parts: Parts

    async def list(self, user_id: str) -> Sequence[Session]:
        """Return a person's live sign-ins, oldest first."""
        return await self.parts.stored.sessions.of(user_id, self.parts.now())

    async def end(self, by: str, session: Session) -> bool:
        """End one with all of its tokens; False when it has ended already."""
        event = act(
            self.parts,
            by,
            "session.ended",
            f"user:{session.user_id}",
            session=session.id,
            why="by_administrator",
        )
        now = self.parts.now()
        ended = await self.parts.stored.sessions.end(session.id, now, "by_administrator", event)
        self.parts.crafts.access.forget(session.id)
        return ended
