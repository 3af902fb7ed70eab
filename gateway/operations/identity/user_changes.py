"""Changes of users that never undo one another, and the audit events that describe them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from gateway.domain.identity.sessions import Session
from gateway.domain.identity.users import User
from gateway.domain.kernel.audit import AuditEvent
from gateway.operations.identity.ports import IdentityContext
from gateway.telemetry.trace import current_trace_id

_ATTEMPTS = 3


def audit_event(
    context: IdentityContext, actor: str, word: str, subject: str, **details: str
) -> AuditEvent:
    """Describe an act of now; details never hold a secret."""
    return AuditEvent(
        at=context.now(),
        actor=actor,
        action=word,
        subject=subject,
        details=details,
        trace_id=current_trace_id(),
    )


def own_audit_event(context: IdentityContext, user: User, word: str, **details: str) -> AuditEvent:
    """Describe what a person did to their own account."""
    return audit_event(context, f"user:{user.email}", word, f"user:{user.id}", **details)


def is_valid(session: Session, user: User) -> bool:
    """
    Say whether a session is younger than the latest change of its person.

    A new password, factor, role or limit ends every session by this alone;
    that their rows are ended too is for those who look.
    """
    return user.active and session.created_at >= user.updated_at


async def change_user(
    context: IdentityContext,
    user_id: str,
    changed: Callable[[User], User],
    told: Callable[[User], AuditEvent],
) -> User | None:
    """
    Change a person; who changed them in between is not undone.

    Args:
        context: The store and the clock.
        user_id: Whom.
        changed: Returns them changed; it may be asked again, and may refuse by raising.
        told: Describes the act, from the person changed.

    Returns:
        The person as stored; None when there is none.
    """
    for _ in range(_ATTEMPTS):
        user = await context.stores.users.find(user_id)
        if user is None:
            return None
        new = replace(changed(user), updated_at=_later(context.now(), user.updated_at))
        if await context.stores.users.replace(new, told(new), user.updated_at):
            return new
    return None


def _later(now: datetime, before: datetime) -> datetime:
    """Return an instant that tells this change from the one before, whatever the clock says."""
    return max(now, before + before.resolution)
