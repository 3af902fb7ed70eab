"""Orders that wait for another person, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select, update

from gateway.domain.approvals import Approval, ApprovalKind, ApprovalState
from gateway.domain.money import Money
from gateway.domain.office_stores import ApprovalSearch, Waiting
from gateway.domain.stores import AlreadyExists, AuditEvent
from gateway.store import audit
from gateway.store.columns import Record, reference_digest
from gateway.store.database import Database
from gateway.store.office_tables import approvals
from gateway.store.pages import page
from gateway.store.records import row_of

_MOST = 100
_FIND = select(approvals).where(approvals.c.id == bindparam("id"))
_NEWEST = select(approvals).order_by(approvals.c.ordered_at.desc(), approvals.c.id)
_OVERDUE = (
    select(approvals)
    .where(approvals.c.state == ApprovalState.WAITING.value)
    .where(approvals.c.ends_at <= bindparam("now", type_=approvals.c.ends_at.type))
    .order_by(approvals.c.ends_at)
    .limit(_MOST)
)
_WAITING = (
    select(func.count().label("number"), func.min(approvals.c.ordered_at).label("oldest_at"))
    .where(approvals.c.state == ApprovalState.WAITING.value)
    .where(approvals.c.ends_at > bindparam("now", type_=approvals.c.ends_at.type))
)


class StoredApprovals:
    """``Approvals`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, approval: Approval, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when one of its kind, account and reference waits."""
        async with self._database.writing() as connection:
            if not await self._database.add(connection, approvals, _row(approval)):
                raise AlreadyExists(approval.reference)
            await audit.append(connection, event)

    async def find(self, approval_id: str) -> Approval | None:
        """Return one."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_FIND, {"id": approval_id})).one_or_none()
        return None if row is None else _read(row)

    async def search(self, search: ApprovalSearch) -> tuple[Sequence[Approval], int]:
        """Return a page, newest first, and how many there are."""
        wanted = _NEWEST
        if search.state is not None:
            wanted = wanted.where(approvals.c.state == search.state.value)
        if search.companies:
            wanted = wanted.where(approvals.c.company_id.in_(search.companies))
        rows, total = await page(self._database, wanted, search.paging)
        return [_read(row) for row in rows], total

    async def decide(self, decided: Approval, event: AuditEvent) -> bool:
        """Store the decision by compare-and-set; False when it waits no more."""
        deciding = (
            update(approvals)
            .where(approvals.c.id == decided.id)
            .where(approvals.c.state == ApprovalState.WAITING.value)
            .values(
                state=decided.state.value,
                decided_by=decided.decided_by,
                decider=decided.decider,
                decided_at=decided.decided_at,
                reason=decided.reason,
            )
        )
        async with self._database.writing() as connection:
            if (await connection.execute(deciding)).rowcount == 0:
                return False
            await audit.append(connection, event)
        return True

    async def overdue(self, now: datetime) -> Sequence[Approval]:
        """Return those that wait past their end, at most a hundred."""
        async with self._database.reading() as connection:
            return [_read(row) for row in (await connection.execute(_OVERDUE, {"now": now})).all()]

    async def waiting(self, now: datetime) -> Waiting:
        """Count those that can still be decided."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_WAITING, {"now": now})).one()
        return Waiting(row.number, row.oldest_at)


def _row(approval: Approval) -> dict[str, object]:
    row = row_of(approval)
    row["centavos"] = row.pop("value").centavos
    row["reference_sha256"] = reference_digest(approval.reference)
    return row | {"kind": approval.kind.value, "state": approval.state.value}


def _read(row: Record) -> Approval:
    return Approval(
        id=row.id,
        kind=ApprovalKind(row.kind),
        account_id=row.account_id,
        company_id=row.company_id,
        reference=row.reference,
        value=Money(row.centavos),
        sealed_order=row.sealed_order,
        ordered_by=row.ordered_by,
        orderer=row.orderer,
        ordered_at=row.ordered_at,
        ends_at=row.ends_at,
        state=ApprovalState(row.state),
        decided_by=row.decided_by,
        decider=row.decider,
        decided_at=row.decided_at,
        reason=row.reason,
    )
