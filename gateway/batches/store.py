"""
Files of payouts in the store.

Every step of a file and of a row is a compare-and-set. A worker begins with a row only while its
file runs, in the statement that takes the row: who ends the file ends every row that nobody began.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Text,
    Update,
    and_,
    case,
    cast,
    delete,
    exists,
    false,
    func,
    insert,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.batches.model import (
    MOST_DRAFTS,
    OPEN,
    WAITING,
    Batch,
    BatchDocument,
    BatchProgress,
    BatchRow,
    BatchSearch,
    BatchState,
    FileProblem,
    Oddity,
    Progress,
    RowSearch,
    RowState,
    progress_of,
)
from gateway.core.approvals import ApprovalKind, ApprovalState
from gateway.core.audit import AuditEvent
from gateway.core.company_scope import CompanyScope
from gateway.core.money import Sum
from gateway.core.storage import AlreadyExists, LimitReached
from gateway.core.windows import Listed, Paging
from gateway.payouts.documents import Orderer
from gateway.payouts.model import FINAL_STATES, MAY_MOVE_MONEY, PayoutState
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.backoffice import approvals, batch_problems, batch_rows, batches
from gateway.store.tables.columns import Record, reference_digest
from gateway.store.tables.core import archived_payouts, companies, payouts, returns
from gateway.store.tables.identity import users
from gateway.store.tables.scope import of_company

_ROWS_AT_ONCE: Final = 200
"""Rows that one statement writes: SQLite takes some thousands of values."""
ABANDONED: Final = timedelta(minutes=1)
"""No worker stores the payout of a row later than this after it began with the row."""
_RUNNING: Final = batches.c.state == BatchState.RUNNING.value
_ORDERING: Final = batch_rows.c.state == RowState.ORDERING.value
_WAITS: Final = batch_rows.c.state == RowState.WAITING.value
_BEGUN: Final = batch_rows.c.state.in_(
    [RowState.ORDERING.value, RowState.WAITING.value, RowState.CANCELLED.value]
)
_OF_ENDED: Final = case(
    (batch_rows.c.began_at.is_(None), RowState.CANCELLED.value), else_=RowState.ORDERING.value
)
"""A row that was tried may have a payout: it is settled as one whose worker was killed."""

_ORDERS: Final = (
    approvals.c.subject == batches.c.id,
    approvals.c.kind == ApprovalKind.BATCH.value,
)
_LAST_ORDER: Final = (
    select(approvals.c.id)
    .where(*_ORDERS)
    .order_by(approvals.c.ordered_at.desc())
    .limit(1)
    .correlate(batches)
    .scalar_subquery()
)
_IS_WAITING: Final = (
    exists().where(*_ORDERS, approvals.c.state == ApprovalState.WAITING.value).correlate(batches)
)
_SHOWN: Final = select(
    batches, func.coalesce(_LAST_ORDER, "").label("approval_id"), _IS_WAITING.label("is_waiting")
)
_ODD: Final = cast(batch_rows.c.odd, Text)
"""The words as one text; none of them is a part of another."""
_WENT_WELL: Final = frozenset({Progress.HELD, Progress.SENT, Progress.PAID})
"""Says nothing of the code that a row got while its outcome was unknown."""
_KEY: Final = ("account_id", "reference_sha256")
_OF_PAYOUT: Final = and_(*(payouts.c[each] == batch_rows.c[each] for each in _KEY))
_OF_ARCHIVED: Final = and_(*(archived_payouts.c[each] == batch_rows.c[each] for each in _KEY))
_STATE: Final = case(
    (
        batch_rows.c.state.in_([RowState.ORDERED.value, RowState.ORDERING.value]),
        func.coalesce(payouts.c.state, archived_payouts.c.state),
    ),
    else_=None,
)
"""The state of a row's payout; NULL where the row has none of its own."""
_IN_REVIEW: Final = case(
    (_STATE.is_(None), false()), else_=func.coalesce(payouts.c.review, false())
)
_UNDECIDED: Final = or_(
    _IN_REVIEW,
    _STATE.in_([each.value for each in PayoutState if each in MAY_MOVE_MONEY - FINAL_STATES]),
)
"""Nobody knows yet what becomes of the row's payout."""
_FAILURE: Final = func.coalesce(payouts.c.failure_code, archived_payouts.c.failure_code, "")
_CAME_BACK: Final = (
    select(func.coalesce(func.sum(returns.c.centavos), 0))
    .where(*(returns.c[each] == batch_rows.c[each] for each in _KEY))
    .correlate(batch_rows)
    .scalar_subquery()
)
_MOVED: Final = case(
    (
        _STATE.in_([PayoutState.PAID.value]),
        func.coalesce(
            payouts.c.moved_centavos, archived_payouts.c.moved_centavos, batch_rows.c.centavos
        )
        - _CAME_BACK,
    ),
    else_=batch_rows.c.centavos,
)


class ShownBatch(NamedTuple):
    """A file and its order: the last one's id, and whether it waits."""

    batch: Batch
    approval_id: str
    is_waiting: bool

    def document(self) -> BatchDocument:
        """Return the file as people read it."""
        batch = self.batch
        is_waiting = self.is_waiting and batch.state is BatchState.DRAFT
        return BatchDocument(
            id=batch.id,
            account_id=batch.account_id,
            company_id=batch.company_id,
            name=batch.name,
            status=WAITING if is_waiting else batch.state.value,
            payouts=batch.payouts,
            value=batch.value,
            made_by=batch.maker,
            made_at=batch.made_at,
            date="" if batch.day is None else batch.day.isoformat(),
            approval_id=self.approval_id,
            held_for=batch.held_for,
            ended_at=batch.ended_at,
        )


class ShownRow(NamedTuple):
    """
    A row, and where its payout stands.

    Attributes:
        failure: The code with which its payout failed; else empty.
        has_payout: Whether its payout is stored.
    """

    row: BatchRow
    progress: Progress
    failure: str
    has_payout: bool

    @property
    def code(self) -> str:
        """The code of the payout's failure, else of the row's refusal; empty where it went well."""
        if self.progress in _WENT_WELL:
            return ""
        has_failed = self.progress is Progress.FAILED and self.failure
        return self.failure if has_failed else self.row.code


class BatchRecords:
    """Files of payouts, over a database; ``StoreUnavailable`` when it does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        batch: Batch,
        rows: Sequence[BatchRow],
        problems: Sequence[FileProblem],
        event: AuditEvent,
    ) -> None:
        """
        Store a file with its rows, or with its problems, in one transaction.

        Raises:
            AlreadyExists: of the id of an upload of the same file to the account that is open.
            LimitReached: the company has ``MOST_DRAFTS`` drafts.
        """
        async with self._database.writing() as connection:
            if batch.state in OPEN:
                # One upload of a company after the other.
                company = select(companies.c.id).where(companies.c.id == batch.company_id)
                await connection.execute(company.with_for_update(key_share=True))
                await _refuse_same_file(connection, batch)
                await _refuse_many(connection, batch)
            await connection.execute(insert(batches), row_of(batch))
            await _add(connection, insert(batch_rows), [row_of(each) for each in rows])
            wrong = [{"batch_id": batch.id, **row_of(each)} for each in problems]
            await _add(connection, insert(batch_problems), wrong)
            await audit_log.append(connection, event)

    async def find(self, batch_id: str, scope: CompanyScope) -> ShownBatch | None:
        """Return a file of a company in scope."""
        wanted = _SHOWN.where(batches.c.id == batch_id, *of_company(batches.c.company_id, scope))
        row = await self._database.first(wanted)
        return None if row is None else _shown(row)

    async def page(self, wanted: BatchSearch, scope: CompanyScope) -> Listed[ShownBatch]:
        """Return a page of files, the newest first."""
        found = _SHOWN.where(*of_company(batches.c.company_id, scope))
        if wanted.account_id is not None:
            found = found.where(batches.c.account_id == wanted.account_id)
        if wanted.text is not None:
            found = found.where(_names(wanted.text))
        newest = found.order_by(batches.c.made_at.desc(), batches.c.id)
        return await page(self._database, newest, wanted.paging, _shown)

    async def same_file(self, batch: Batch) -> Batch | None:
        """Return the newest earlier upload of the same file to the account that was not refused."""
        wanted = (
            select(batches)
            .where(
                batches.c.account_id == batch.account_id,
                batches.c.file_sha256 == batch.file_sha256,
                batches.c.state != BatchState.REFUSED.value,
                batches.c.id != batch.id,
                batches.c.made_at <= batch.made_at,
            )
            .order_by(batches.c.made_at.desc())
            .limit(1)
        )
        row = await self._database.first(wanted)
        return None if row is None else from_row(row, Batch)

    async def makers(self, ids: Collection[str], scope: CompanyScope) -> Sequence[Orderer]:
        """Return the names of who uploaded these files, unordered; deleted users are left out."""
        wanted = (
            select(users.c.id, users.c.name, users.c.email)
            .join(batches, batches.c.made_by == users.c.id)
            .where(batches.c.id.in_(ids), *of_company(batches.c.company_id, scope))
            .distinct()
        )
        rows = await self._database.rows(wanted) if ids else ()
        return [Orderer(row.id, row.name, row.email) for row in rows]

    async def rows(
        self, batch_id: str, wanted: RowSearch, words: Collection[Oddity]
    ) -> Listed[ShownRow]:
        """Return a page of a file's rows, in their order; ``words`` are those that are odd."""
        found = _with_payouts(batch_id)
        if wanted.is_odd:
            found = found.where(or_(*(_ODD.contains(each.value) for each in sorted(words))))
        return await page(self._database, found, wanted.paging, _shown_row)

    async def problems(self, batch_id: str, paging: Paging) -> Listed[FileProblem]:
        """Return a page of what is wrong with a file, in the order of its rows."""
        wanted = (
            select(batch_problems)
            .where(batch_problems.c.batch_id == batch_id)
            .order_by(batch_problems.c.number)
        )
        return await page(self._database, wanted, paging, lambda row: from_row(row, FileProblem))

    async def progress(self, batch_id: str) -> Sequence[BatchProgress]:
        """Count and add up a file's payouts by where they stand."""
        wanted = (
            _joined(
                select(
                    batch_rows.c.state,
                    _STATE.label("payout_state"),
                    _IN_REVIEW.label("in_review"),
                    func.count().label("payouts"),
                    cast(func.sum(_MOVED), BigInteger).label("centavos"),
                )
            )
            .where(batch_rows.c.batch_id == batch_id)
            .group_by(batch_rows.c.state, text("payout_state"), text("in_review"))
        )
        found: dict[Progress, tuple[int, int]] = {}
        for row in await self._database.rows(wanted):
            stands = _progress(row)
            count, centavos = found.get(stands, (0, 0))
            found[stands] = count + row.payouts, centavos + int(row.centavos)
        return [
            BatchProgress(status=each, payouts=found[each][0], value=Sum(found[each][1]))
            for each in Progress
            if each in found
        ]

    async def odd(self, batch_id: str) -> Sequence[tuple[Sequence[Oddity], int]]:
        """Return what stands out in each row that has something, with its centavos."""
        wanted = select(batch_rows.c.odd, batch_rows.c.centavos).where(
            batch_rows.c.batch_id == batch_id, batch_rows.c.odd != ""
        )
        rows = await self._database.rows(wanted)
        return [(tuple(map(Oddity, row.odd)), row.centavos) for row in rows]

    async def every_row(self, batch_id: str) -> Sequence[BatchRow]:
        """Return all rows of a file in their order."""
        wanted = select(batch_rows).where(batch_rows.c.batch_id == batch_id)
        rows = await self._database.rows(wanted.order_by(batch_rows.c.number))
        return [from_row(row, BatchRow) for row in rows]

    async def mark(self, batch_id: str, odd: Mapping[int, Sequence[Oddity]]) -> None:
        """Store anew what stands out in some rows."""
        async with self._database.writing() as connection:
            for number, words in odd.items():
                one = _one(batch_id, number)
                await connection.execute(update(batch_rows).where(*one).values(odd=tuple(words)))

    # What is carried out

    async def start(self, batch: Batch, event: AuditEvent) -> bool:
        """Let a draft be carried out; False when it is no draft any more."""
        changed = {"state": BatchState.RUNNING.value, "day": batch.day, "began_at": batch.began_at}
        return await self._step(batch.id, BatchState.DRAFT, changed, event)

    async def hold(self, batch_id: str, why: str, event: AuditEvent) -> bool:
        """Hold the rest of a running file for a reason."""
        changed = {"state": BatchState.HELD.value, "held_for": why}
        return await self._step(batch_id, BatchState.RUNNING, changed, event)

    async def resume(self, held: Batch, user_id: str, now: datetime, event: AuditEvent) -> bool:
        """
        Let a held file go on; what stopped it before counts no more.

        Returns:
            False when it is not held any more, or was let go on meanwhile.
        """
        people = tuple(dict.fromkeys((*held.resumed_by, user_id)))
        step = (
            update(batches)
            .where(
                batches.c.id == held.id,
                batches.c.state == BatchState.HELD.value,
                batches.c.resumed_by == held.resumed_by,
            )
            .values(state=BatchState.RUNNING.value, held_for="", began_at=now, resumed_by=people)
        )
        return await audit_log.change(self._database, step, event)

    async def end(
        self, batch_id: str, state: BatchState, now: datetime, event: AuditEvent, code: str = ""
    ) -> bool:
        """
        End an open file, and cancel the rows not begun, with a code.

        Rows that were begun and wait again are settled by what the store has, as ``abandoned``.

        Returns:
            False when it had ended before; nothing was changed.
        """
        ended = {"state": state.value, "ended_at": now}
        async with self._database.writing() as connection:
            done = await connection.execute(
                update(batches)
                .where(
                    batches.c.id == batch_id,
                    batches.c.state.in_(sorted(each.value for each in _ENDS_FROM[state])),
                )
                .values(ended)
            )
            if done.rowcount == 0:
                return False
            await connection.execute(
                update(batch_rows)
                .where(batch_rows.c.batch_id == batch_id, _WAITS)
                .values(state=_OF_ENDED, code=code)
            )
            await audit_log.append(connection, event)
        return True

    async def order_all(self, batch_id: str) -> bool:
        """Note that no row of a running file waits any more, where some outcomes are open."""
        step = (
            update(batches)
            .where(batches.c.id == batch_id, _RUNNING, _is_undecided())
            .values(state=BatchState.ORDERED.value)
        )
        return await self._database.write(step) == 1

    async def decided(self) -> Sequence[str]:
        """Return the files whose payouts were all ordered and have ended since."""
        wanted = select(batches.c.id).where(
            batches.c.state == BatchState.ORDERED.value, ~_is_undecided()
        )
        return [row.id for row in await self._database.rows(wanted)]

    async def under_way(self, today: date) -> Sequence[Batch]:
        """Return the running files, the oldest first, and held ones of another day."""
        is_over = and_(batches.c.state == BatchState.HELD.value, batches.c.day != today)
        wanted = select(batches).where(or_(_RUNNING, is_over))
        wanted = wanted.order_by(batches.c.began_at, batches.c.id)
        return [from_row(row, Batch) for row in await self._database.rows(wanted)]

    async def abandoned(self, now: datetime) -> Sequence[tuple[BatchRow, BatchState]]:
        """Return begun rows without a worker, of files that do not run."""
        wanted = (
            select(batch_rows, batches.c.state.label("batch_state"))
            .join(batches, batches.c.id == batch_rows.c.batch_id)
            .where(_ORDERING, batch_rows.c.began_at <= now - ABANDONED, ~_RUNNING)
        )
        rows = await self._database.rows(wanted)
        return [(from_row(row, BatchRow), BatchState(row.batch_state)) for row in rows]

    async def due(self, batch_id: str, most: int) -> Sequence[BatchRow]:
        """Return the next rows that wait or that a killed worker had begun, in their order."""
        wanted = (
            select(batch_rows)
            .where(batch_rows.c.batch_id == batch_id, or_(_WAITS, _ORDERING))
            .order_by(batch_rows.c.number)
            .limit(most)
        )
        return [from_row(row, BatchRow) for row in await self._database.rows(wanted)]

    async def begin(self, row: BatchRow, now: datetime) -> bool:
        """Take a row to order its payout; False when its file does not run any more."""
        runs = exists().where(batches.c.id == row.batch_id, _RUNNING)
        taken = (
            update(batch_rows)
            .where(
                *_one(row.batch_id, row.number),
                or_(_WAITS, _ORDERING),
                runs,
            )
            .values(state=RowState.ORDERING.value, began_at=now)
        )
        return await self._database.write(taken) == 1

    async def finish(self, row: BatchRow, state: RowState, code: str = "", tries: int = 0) -> None:
        """
        Store what became of a row that was begun.

        That its payout is stored counts even where the row was settled without it meanwhile: its
        worker was only suspended.
        """
        changed = {"state": state.value, "code": code, "tries": tries}
        from_ = _BEGUN if state is RowState.ORDERED else _ORDERING
        done: Update = update(batch_rows).where(*_one(row.batch_id, row.number), from_)
        await self._database.write(done.values(changed))

    async def forget(self, before: datetime, drafts_before: datetime) -> int:
        """
        Delete files that were uploaded before an instant and are not under way.

        Those that were never ordered, or not approved, go by an instant of their own.
        """
        is_over = batches.c.state.not_in(sorted(each.value for each in _UNDER_WAY))
        is_draft = and_(batches.c.state == BatchState.DRAFT.value, ~_IS_WAITING)
        old = select(batches.c.id).where(
            or_(
                and_(batches.c.made_at < before, is_over),
                and_(batches.c.made_at < drafts_before, is_draft),
            )
        )
        async with self._database.writing() as connection:
            # Locked: one that begins at this moment is under way, and stays.
            locked = old.limit(_FORGOTTEN_AT_ONCE).with_for_update()
            ids = (await connection.execute(locked)).scalars().all()
            for table in (batch_rows, batch_problems):
                await connection.execute(delete(table).where(table.c.batch_id.in_(ids)))
            await connection.execute(delete(batches).where(batches.c.id.in_(ids)))
        return len(ids)

    async def _step(
        self, batch_id: str, before: BatchState, changed: Mapping[str, object], event: AuditEvent
    ) -> bool:
        step = (
            update(batches)
            .where(batches.c.id == batch_id, batches.c.state == before.value)
            .values(dict(changed))
        )
        return await audit_log.change(self._database, step, event)


_ENDS_FROM: Final[Mapping[BatchState, frozenset[BatchState]]] = {
    BatchState.DONE: frozenset({BatchState.RUNNING, BatchState.ORDERED}),
    BatchState.CANCELLED: frozenset({BatchState.DRAFT, BatchState.RUNNING, BatchState.HELD}),
}
_UNDER_WAY: Final = frozenset({BatchState.RUNNING, BatchState.HELD, BatchState.ORDERED})
_FORGOTTEN_AT_ONCE: Final = 100


async def _refuse_same_file(connection: AsyncConnection, batch: Batch) -> None:
    same = select(batches.c.id).where(
        batches.c.account_id == batch.account_id,
        batches.c.file_sha256 == batch.file_sha256,
        batches.c.state.in_(sorted(OPEN)),
    )
    found = (await connection.execute(same.limit(1))).scalar()
    if found is not None:
        raise AlreadyExists(found)


async def _refuse_many(connection: AsyncConnection, batch: Batch) -> None:
    drafts = select(func.count()).where(
        batches.c.company_id == batch.company_id, batches.c.state == BatchState.DRAFT.value
    )
    if (await connection.execute(drafts)).scalar_one() >= MOST_DRAFTS:
        raise LimitReached(BatchState.DRAFT.value)


async def _add(
    connection: AsyncConnection, statement: object, rows: Sequence[Mapping[str, object]]
) -> None:
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        part = [dict(each) for each in rows[first : first + _ROWS_AT_ONCE]]
        await connection.execute(statement, part)  # type: ignore[call-overload] # an insert


def _one(batch_id: str, number: int) -> tuple[ColumnElement[bool], ...]:
    return batch_rows.c.batch_id == batch_id, batch_rows.c.number == number


def _names(text: str) -> ColumnElement[bool]:
    """Return the SQL condition: the name holds a text, or a row has the reference."""
    has_row = exists().where(
        batch_rows.c.batch_id == batches.c.id,
        batch_rows.c.account_id == batches.c.account_id,
        batch_rows.c.reference_sha256 == reference_digest(text),
    )
    return or_(func.lower(batches.c.name).contains(text.lower(), autoescape=True), has_row)


def _joined(wanted: Select[*tuple[object, ...]]) -> Select[*tuple[object, ...]]:
    return (
        wanted.select_from(batch_rows)
        .outerjoin(payouts, _OF_PAYOUT)
        .outerjoin(archived_payouts, _OF_ARCHIVED)
    )


def _is_undecided() -> ColumnElement[bool]:
    """Return the SQL condition: the outcome of some payout of a file is open."""
    some = _joined(select(batch_rows.c.number)).where(
        batch_rows.c.batch_id == batches.c.id, _UNDECIDED
    )
    return exists(some.correlate(batches))


def _with_payouts(batch_id: str) -> Select[*tuple[object, ...]]:
    found = _joined(
        select(
            batch_rows,
            _STATE.label("payout_state"),
            _IN_REVIEW.label("in_review"),
            _FAILURE.label("failure"),
        )
    )
    return found.where(batch_rows.c.batch_id == batch_id).order_by(batch_rows.c.number)


def _shown(row: Record) -> ShownBatch:
    return ShownBatch(from_row(row, Batch), row.approval_id, bool(row.is_waiting))


def _shown_row(row: Record) -> ShownRow:
    has_payout = row.payout_state is not None
    return ShownRow(from_row(row, BatchRow), _progress(row), row.failure, has_payout)


def _progress(row: Record) -> Progress:
    state = None if row.payout_state is None else PayoutState(row.payout_state)
    return progress_of(RowState(row.state), state, in_review=bool(row.in_review))
