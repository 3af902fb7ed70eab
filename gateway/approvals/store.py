"""Approvals in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    func,
    literal,
    or_,
    select,
    union_all,
    update,
)

from gateway.audit import store as audit_log
from gateway.core.approvals import (
    MONEY,
    Approval,
    ApprovalKind,
    ApprovalSearch,
    ApprovalState,
    Outcome,
    WaitingMoney,
)
from gateway.core.audit import AuditEvent
from gateway.core.company_scope import CompanyScope
from gateway.core.money import Sum
from gateway.core.storage import AlreadyExists
from gateway.core.windows import Listed
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.orders import deciding
from gateway.store.tables.backoffice import approvals, batch_rows, batches
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.scope import Conditions, of_company

# One run of the background task; what is left waits for the next.
_MOST = 100
# As many as a person looks through.
_SHOWN = 25
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
_UNKNOWN = (
    select(approvals)
    .where(approvals.c.ordered_at >= bindparam("since", type_=approvals.c.ordered_at.type))
    .where(approvals.c.state == ApprovalState.APPROVED.value)
    .where(approvals.c.kind == ApprovalKind.PAYOUT.value)
    .where(
        or_(
            approvals.c.outcome.in_([Outcome.UNKNOWN.value, Outcome.NOT_SENT.value]),
            and_(
                approvals.c.outcome == Outcome.NONE.value,
                approvals.c.decided_at <= bindparam("until", type_=approvals.c.decided_at.type),
            ),
        )
    )
    .order_by(approvals.c.ordered_at)
    .limit(_MOST)
)
_OPEN = (Outcome.NONE.value, Outcome.UNKNOWN.value, Outcome.NOT_SENT.value)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Number of waiting orders, and the time of the oldest; None when there is none."""

    count: int
    oldest_at: datetime | None


class StoredApprovals:
    """Orders that wait for another user, over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, approval: Approval, event: AuditEvent) -> None:
        """Store a new order; AlreadyExists when one of its kind, subject and reference waits."""
        async with self._database.writing() as connection:
            row = {**row_of(approval), "reference_sha256": reference_digest(approval.reference)}
            if not await self._database.add(connection, approvals, row):
                raise AlreadyExists(approval.reference)
            await audit_log.append(connection, event)

    async def find(self, approval_id: str, scope: CompanyScope, user_id: str) -> Approval | None:
        """Return an order of a company in scope, or the user's own order without a company."""
        wanted = select(approvals).where(approvals.c.id == approval_id, *_visible(scope, user_id))
        row = await self._database.first(wanted)
        return None if row is None else from_row(row, Approval)

    async def search(
        self, search: ApprovalSearch, scope: CompanyScope, user_id: str
    ) -> Listed[Approval]:
        """Return a page of the orders visible to ``find``, newest first."""
        wanted = _NEWEST.where(*_visible(scope, user_id))
        if search.state is not None:
            wanted = wanted.where(approvals.c.state == search.state.value)
        return await page(self._database, wanted, search.paging, partial(from_row, kind=Approval))

    async def matching(
        self, wanted: ColumnElement[bool], scope: CompanyScope, user_id: str
    ) -> Sequence[Approval]:
        """Return all orders that match a condition and are visible to ``find``, newest first."""
        rows = await self._database.rows(_NEWEST.where(wanted, *_visible(scope, user_id)))
        return [from_row(row, Approval) for row in rows]

    async def people_of(self, account_id: str, reference: str) -> frozenset[str]:
        """
        Return the ids of the users who ordered and approved a payout, or the file it is of.

        Whoever let the file go on after it was held is one of them.
        """
        single = select(approvals.c.ordered_by, approvals.c.decided_by).where(
            approvals.c.kind == ApprovalKind.PAYOUT.value,
            approvals.c.account_id == account_id,
            approvals.c.reference_sha256 == reference_digest(reference),
            approvals.c.state == ApprovalState.APPROVED.value,
        )
        return await self._people(single, *_of_file(account_id, reference))

    async def people_of_file(self, account_id: str, reference: str) -> frozenset[str]:
        """Return the ids of the users who ordered, approved and let go on a payout's file."""
        return await self._people(*_of_file(account_id, reference))

    async def _people(self, *found: Select[*tuple[Any, ...]]) -> frozenset[str]:
        rows = await self._database.rows(union_all(*found))
        return frozenset(user_id for row in rows for ids in row for user_id in ids.split())

    async def decide(self, decided: Approval, event: AuditEvent) -> bool:
        """Store the decision by compare-and-set; False when the order no longer waits."""
        return await audit_log.change(self._database, deciding(decided), event)

    async def conclude(self, concluded: Approval, event: AuditEvent, before: Outcome) -> bool:
        """
        Store the outcome of an approved order whose state is ``before``.

        Moved money is stored in any state, unless the order has ended.

        Returns:
            False when nothing was stored.
        """
        moved = concluded.outcome is Outcome.MOVED
        change = (
            update(approvals)
            .where(
                approvals.c.id == concluded.id,
                approvals.c.state == ApprovalState.APPROVED.value,
                approvals.c.outcome.in_(_OPEN if moved else {before.value} & {*_OPEN}),
            )
            .values(outcome=concluded.outcome.value, outcome_code=concluded.outcome_code)
        )
        return await audit_log.change(self._database, change, event)

    async def overdue(self, now: datetime) -> Sequence[Approval]:
        """Return waiting orders past their end, at most a hundred."""
        found = await self._database.rows(_OVERDUE, {"now": now})
        return [from_row(row, Approval) for row in found]

    async def unsettled(self, since: datetime, until: datetime) -> Sequence[Approval]:
        """
        Return payouts whose outcome is open, oldest first, at most a hundred.

        They were ordered after ``since``; those without an outcome were decided before ``until``.
        """
        found = await self._database.rows(_UNKNOWN, {"since": since, "until": until})
        return [from_row(row, Approval) for row in found]

    async def waiting_money(
        self, account_id: str, now: datetime, without: str = ""
    ) -> WaitingMoney:
        """Return the account's orders of money that can still be decided, except one."""
        waits = (
            approvals.c.account_id == account_id,
            approvals.c.state == ApprovalState.WAITING.value,
            approvals.c.kind.in_([each.value for each in MONEY]),
            approvals.c.ends_at > now,
            approvals.c.id != without,
        )
        # of all of them, also of those beyond the limit
        of_all = (
            func.count().over().label("number"),
            func.sum(approvals.c.centavos).over().label("sum"),
        )
        oldest = select(approvals, *of_all).where(*waits)
        oldest = oldest.order_by(approvals.c.ordered_at, approvals.c.id).limit(_SHOWN)
        rows = await self._database.rows(oldest)
        if not rows:
            return WaitingMoney()
        shown = tuple(from_row(row, Approval) for row in rows)
        return WaitingMoney(rows[0].number, Sum(int(rows[0].sum or 0)), shown)

    async def waiting(self, now: datetime) -> Waiting:
        """Count the orders that can still be decided."""
        [row] = await self._database.rows(_WAITING, {"now": now})
        return Waiting(row.number, row.oldest_at)


def _visible(scope: CompanyScope, user_id: str) -> Conditions:
    """Return the SQL condition for orders of a company in scope, or the user's own."""
    theirs = of_company(approvals.c.company_id, scope)
    own = and_(approvals.c.company_id.is_(None), approvals.c.ordered_by == user_id)
    return tuple(or_(each, own) for each in theirs)


def _of_file(account_id: str, reference: str) -> Sequence[Select[*tuple[Any, ...]]]:
    """Select who ordered and approved a payout's file, and those who let it go on, as one text."""
    its_row = (
        batch_rows.c.account_id == account_id,
        batch_rows.c.reference_sha256 == reference_digest(reference),
    )
    approved = select(approvals.c.ordered_by, approvals.c.decided_by).where(
        approvals.c.kind == ApprovalKind.BATCH.value,
        approvals.c.subject == batch_rows.c.batch_id,
        approvals.c.state == ApprovalState.APPROVED.value,
        *its_row,
    )
    let_go_on = select(cast(batches.c.resumed_by, Text), literal("")).where(
        batches.c.id == batch_rows.c.batch_id, *its_row
    )
    return approved, let_go_on
