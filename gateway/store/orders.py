"""Changes of orders within the transaction of their cause or result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Update, bindparam, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.core.approvals import Approval, ApprovalState, Outcome, SecretCollection, why_void
from gateway.core.audit import AuditEvent
from gateway.core.storage import NothingToCollect
from gateway.core.user import User
from gateway.store.kernel.structs import from_row
from gateway.store.tables.backoffice import approvals

_ORDERED = (
    select(approvals)
    .where(approvals.c.state == ApprovalState.WAITING.value)
    .where(approvals.c.ordered_by == bindparam("user_id"))
)


async def void_orders(
    connection: AsyncConnection, user: User, cause: AuditEvent
) -> Sequence[AuditEvent]:
    """
    Void the orders of a user who may no longer make them.

    Runs in the transaction of the change; returns one audit event for each.
    """
    events: list[AuditEvent] = []
    for row in (await connection.execute(_ORDERED, {"user_id": user.id})).all():
        approval = from_row(row, Approval)
        if reason := why_void(user, approval):
            void = replace(
                approval, state=ApprovalState.VOID, decided_at=cause.at, reason=reason.value
            )
            if (await connection.execute(deciding(void))).rowcount:
                events.append(_voided(void, cause))
    return events


async def collect(connection: AsyncConnection, collection: SecretCollection) -> None:
    """
    Take an approved order's secret, once, in the transaction that stores it.

    Raises:
        NothingToCollect: it was fetched already, or too late; the transaction is to be undone.
    """
    taking = (
        update(approvals)
        .where(
            approvals.c.id == collection.approval_id,
            approvals.c.state == ApprovalState.APPROVED.value,
            approvals.c.decided_at > collection.approved_after,
            approvals.c.collected_at.is_(None),
        )
        .values(collected_at=collection.at, outcome=Outcome.DONE.value)
    )
    if (await connection.execute(taking)).rowcount == 0:
        raise NothingToCollect(collection.approval_id)


def _voided(approval: Approval, cause: AuditEvent) -> AuditEvent:
    """Describe the void order as an act of the user who caused it."""
    return AuditEvent(
        at=cause.at,
        actor=cause.actor,
        action="approval.void",
        subject=f"approval:{approval.id}",
        details={"kind": approval.kind.value, "reason": approval.reason},
        trace_id=cause.trace_id,
    )


def deciding(decided: Approval) -> Update:
    """Return the statement that decides an order that still waits."""
    return (
        update(approvals)
        .where(approvals.c.id == decided.id, approvals.c.state == ApprovalState.WAITING.value)
        .values(
            state=decided.state.value,
            decided_by=decided.decided_by,
            decider=decided.decider,
            decided_at=decided.decided_at,
            reason=decided.reason,
        )
    )
