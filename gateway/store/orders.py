"""Orders: changes in the transaction of their cause, and who had a hand in payouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Text,
    Update,
    bindparam,
    cast,
    exists,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.core.approvals import (
    Approval,
    ApprovalKind,
    ApprovalState,
    Outcome,
    SecretCollection,
    why_void,
)
from gateway.core.audit import AuditEvent
from gateway.core.storage import NothingToCollect
from gateway.core.user import User
from gateway.store.kernel.structs import from_row
from gateway.store.tables.backoffice import approvals, batch_rows, batches
from gateway.store.tables.scope import Conditions

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


def approved(
    account_id: ColumnElement[str],
    reference_sha256: ColumnElement[bytes],
    *wanted: ColumnElement[bool],
) -> ColumnElement[bool]:
    """
    Return the SQL condition: an order that was approved, single or of a file, names the payout.

    Args:
        account_id: With ``reference_sha256``, the payout's key.
        reference_sha256: See ``account_id``.
        wanted: Further conditions of the order.
    """
    single = exists().where(
        approvals.c.account_id == account_id,
        approvals.c.reference_sha256 == reference_sha256,
        approvals.c.kind == ApprovalKind.PAYOUT.value,
        *_APPROVED,
        *wanted,
    )
    of_file = exists().where(
        *_in_file(account_id, reference_sha256),
        approvals.c.subject == batch_rows.c.batch_id,
        approvals.c.kind == ApprovalKind.BATCH.value,
        *_APPROVED,
        *wanted,
    )
    return or_(single, of_file)


def resumed_by(
    user_id: str, account_id: ColumnElement[str], reference_sha256: ColumnElement[bytes]
) -> ColumnElement[bool]:
    """Return the SQL condition: a user let the file of the payout go on after it was held."""
    among = literal(" ").concat(cast(batches.c.resumed_by, Text)).concat(" ")
    return exists().where(
        *_in_file(account_id, reference_sha256),
        batches.c.id == batch_rows.c.batch_id,
        among.contains(f" {user_id} ", autoescape=True),
    )


_APPROVED: Final = (approvals.c.state == ApprovalState.APPROVED.value,)


def _in_file(account_id: ColumnElement[str], reference_sha256: ColumnElement[bytes]) -> Conditions:
    return (
        batch_rows.c.account_id == account_id,
        batch_rows.c.reference_sha256 == reference_sha256,
    )
