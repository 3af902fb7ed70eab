"""Changes of users that never undo one another, and the audit events that describe them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.sessions import Session
from gateway.core.user import User
from gateway.identity.ports import IdentityContext

# two changes of one user at the same moment are rare, three hardly happen
_ATTEMPTS = 3


def audit_event(
    context: IdentityContext, actor: str, word: str, subject: str, **details: str
) -> AuditEvent:
    """Build an audit event dated now; ``details`` never hold a secret."""
    return AuditContext(actor, context.now).event(word, subject, details)


def own_audit_event(context: IdentityContext, user: User, word: str, **details: str) -> AuditEvent:
    """Build the audit event of a user's act on their own account."""
    return audit_event(context, f"user:{user.email}", word, f"user:{user.id}", **details)


def is_valid(session: Session, user: User) -> bool:
    """
    Say whether a session began after the latest change of its user.

    This alone ends every session after a new password, factor, role or company
    limit. Their rows are ended as well, but only so that lists show it.
    """
    return user.active and session.created_at >= user.updated_at


async def change_user(
    context: IdentityContext,
    user_id: str,
    update: Callable[[User], User],
    event_of: Callable[[User], AuditEvent],
) -> User | None:
    """
    Change a user without undoing a change that was made meanwhile.

    Args:
        context: The stores and the clock.
        user_id: The user to change.
        update: Returns the user changed. It may run several times, and may refuse by raising.
        event_of: Builds the audit event from the changed user.

    Returns:
        The user as stored. None when there is none, or others were quicker three times.
    """
    for _ in range(_ATTEMPTS):
        user = await context.stores.users.find(user_id)
        if user is None:
            return None
        new = replace(update(user), updated_at=_later(context.now(), user.updated_at))
        if await context.stores.users.replace(new, event_of(new), user.updated_at):
            return new
    return None


def _later(now: datetime, before: datetime) -> datetime:
    """Return an instant after ``before``, even when the clock of this node is behind."""
    return max(now, before + before.resolution)
