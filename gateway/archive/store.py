"""Payouts that may be archived, their rows as lines, and how they leave the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.archive import lines
from gateway.archive.model import ArchiveFile, begin_of, next_month
from gateway.audit import store as audit_log
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import RuleViolation
from gateway.core.windows import local_end, local_start
from gateway.payouts.model import FINAL_STATES, hidden_destination
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables import columns
from gateway.store.tables.columns import Record
from gateway.store.tables.core import (
    accounts,
    archive_files,
    archived_payouts,
    attempts,
    day_closings,
    opinions,
    payouts,
    returns,
)

_PAGE: Final = 500
"""Payouts that are read at once."""
_FILES: Final = archive_files.c
_ORDER: Final = (payouts.c.created_at, payouts.c.reference_sha256)
Conditions = tuple[ColumnElement[bool], ...]


class Batch(NamedTuple):
    """How many payouts of some lines have left the database, and how many stay in it."""

    gone: int
    stay: int


def _none_beside(table: Table) -> ColumnElement[bool]:
    own = (
        table.c.account_id == payouts.c.account_id,
        table.c.reference_sha256 == payouts.c.reference_sha256,
    )
    return not_(exists().where(*own))


def _at_rest(before: datetime) -> Conditions:
    """Return the SQL condition: ended before an instant, and nothing was said of it since."""
    return (
        payouts.c.state.in_(sorted(FINAL_STATES)),
        not_(payouts.c.review),
        payouts.c.next_check_at.is_(None),
        payouts.c.updated_at < before,
        _none_beside(returns),
        _none_beside(opinions),
    )


class ArchiveRecords:
    """The archive's statements."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accounts(self) -> Sequence[Record]:
        """Return id, company and provider of each account."""
        listed = select(accounts.c.id, accounts.c.company_id, accounts.c.provider)
        return await self._database.rows(listed.order_by(accounts.c.id))

    async def may_leave(
        self, account_id: str, before: datetime, stopped: Sequence[str]
    ) -> Conditions:
        """
        Return the SQL condition: a payout of an account that ended before an instant may leave.

        A day that was signed and not locked keeps its payouts, for people still compare them; so
        does each of the ``stopped`` credentials.
        """
        wanted = select(day_closings.c.day).where(
            day_closings.c.account_id == account_id, day_closings.c.locked_at.is_(None)
        )
        settled = payouts.c.settled_at
        opened = [
            and_(settled >= local_start(row.day), settled < local_end(row.day))
            for row in await self._database.rows(wanted)
        ]
        return (
            payouts.c.account_id == account_id,
            *_at_rest(before),
            payouts.c.client_id.not_in(stopped),
            *([or_(settled.is_(None), not_(or_(*opened)))] if opened else []),
        )

    async def oldest(self, may_leave: Conditions, before: datetime) -> datetime | None:
        """Return when the oldest payout was created that may leave."""
        wanted = select(payouts.c.created_at).where(*may_leave, payouts.c.created_at < before)
        row = await self._database.first(wanted.order_by(payouts.c.created_at).limit(1))
        found: datetime | None = None if row is None else row.created_at
        return found

    async def total(self, may_leave: Conditions, month: date) -> tuple[int, int]:
        """
        Count and add up, in centavos, the payouts of a month that may leave.

        Day by day: a whole month may take longer than a statement may.
        """
        wanted = select(func.count(), func.coalesce(func.sum(payouts.c.centavos), 0))
        day, payouts_found, centavos = begin_of(month), 0, 0
        while day < begin_of(next_month(month)):
            after = day + timedelta(days=1)
            of_day = (payouts.c.created_at >= day, payouts.c.created_at < after)
            for row in await self._database.rows(wanted.where(*may_leave, *of_day)):
                payouts_found, centavos = payouts_found + int(row[0]), centavos + int(row[1])
            day = after
        return payouts_found, centavos

    async def pages(
        self, may_leave: Conditions, month: date
    ) -> AsyncIterator[Sequence[tuple[bytes, int]]]:
        """Return the lines of the payouts of a month that may leave, each with its centavos."""
        wanted = select(payouts).where(*may_leave, *_within(month)).order_by(*_ORDER).limit(_PAGE)
        after: Conditions = ()
        while True:
            async with self._database.reading() as connection:
                rows = (await connection.execute(wanted.where(*after))).all()
                written = await _lines_of(connection, rows)
            if not rows:
                return
            yield [(written[row.reference_sha256], row.centavos) for row in rows]
            last = rows[-1]
            created = payouts.c.created_at
            later = payouts.c.reference_sha256 > last.reference_sha256
            # The first condition is for the index, which would else begin at the month again.
            after = (created >= last.created_at, or_(created > last.created_at, later))

    async def are_stored(self, account_id: str, given: Sequence[bytes]) -> bool:
        """Return whether each line is what the database has of its payout."""
        digests = [lines.digest_of(lines.read(each)) for each in given]
        async with self._database.reading() as connection:
            rows = (await connection.execute(_by_digests(account_id, digests))).all()
            written = await _lines_of(connection, rows)
        return all(written.get(key) == each for key, each in zip(digests, given, strict=True))

    async def files(self) -> Sequence[ArchiveFile]:
        """Return every file, by account, oldest month first."""
        return await self._files()

    async def begun(self) -> Sequence[ArchiveFile]:
        """Return the files whose payouts were not all deleted yet."""
        return await self._files(_FILES.emptied_at.is_(None))

    async def of_month(self, account_id: str, month: date) -> Sequence[ArchiveFile]:
        """Return the files of a month."""
        return await self._files(_FILES.account_id == account_id, _FILES.month == month)

    async def _files(self, *only: ColumnElement[bool]) -> Sequence[ArchiveFile]:
        order = (_FILES.account_id, _FILES.month, _FILES.number)
        wanted = select(archive_files).where(*only).order_by(*order)
        return [from_row(row, ArchiveFile) for row in await self._database.rows(wanted)]

    async def note(self, file: ArchiveFile, event: AuditEvent) -> None:
        """
        Note a file that was compared with the database.

        Raises:
            RuleViolation: another process noted a file of this month meanwhile.
        """
        async with self._database.writing() as connection:
            if not await self._database.add(connection, archive_files, row_of(file)):
                message = f"another process has archived {file.name}: repeat"
                raise RuleViolation(message)
            await audit_log.append(connection, event)

    async def end(self, file: ArchiveFile, at: datetime) -> None:
        """Note that no payout of a file is left to delete."""
        await self._database.write(
            update(archive_files)
            .where(
                _FILES.account_id == file.account_id,
                _FILES.month == file.month,
                _FILES.number == file.number,
            )
            .values(emptied_at=at)
        )

    async def leave(self, account_id: str, given: Sequence[bytes], before: datetime) -> Batch:
        """
        Move the payouts of some lines of a proven file out of ``payouts``, in one transaction.

        Each row is locked and compared with its line once more. A payout that is different by now,
        or not at rest, stays. Safe to repeat.

        Raises:
            RuleViolation: a payout of the lines is in neither ``payouts`` nor
                ``archived_payouts``; nothing was done.
        """
        by_digest = {lines.digest_of(lines.read(each)): each for each in given}
        async with self._database.writing() as connection:
            locking = _by_digests(account_id, [*by_digest]).with_for_update()
            rows = (await connection.execute(locking)).all()
            await self._refuse_lost(connection, account_id, by_digest.keys() - _digests(rows))
            resting = _by_digests(account_id, _digests(rows)).where(*_at_rest(before))
            rows_at_rest = (await connection.execute(resting)).all()
            written = await _lines_of(connection, rows_at_rest)
            going = [
                row
                for row in rows_at_rest
                if written[row.reference_sha256] == by_digest[row.reference_sha256]
            ]
            if going:
                await connection.execute(insert(archived_payouts), list(map(_archived, going)))
                for table in (attempts, payouts):
                    key = (table.c.account_id, table.c.reference_sha256)
                    of = (key[0] == account_id, key[1].in_(_digests(going)))
                    await connection.execute(delete(table).where(*of))
        return Batch(len(going), len(rows) - len(going))

    async def _refuse_lost(
        self, connection: AsyncConnection, account_id: str, absent: set[bytes]
    ) -> None:
        key = archived_payouts.c
        wanted = select(func.count()).where(
            key.account_id == account_id, key.reference_sha256.in_(sorted(absent))
        )
        if absent and (await connection.execute(wanted)).scalar_one() != len(absent):
            message = f"payouts of account {account_id} are in a file, and nowhere in the database"
            raise RuleViolation(message)


def _within(month: date) -> Conditions:
    begins, ends = begin_of(month), begin_of(next_month(month))
    return payouts.c.created_at >= begins, payouts.c.created_at < ends


def _by_digests(account_id: str, digests: Sequence[bytes]) -> Select[*tuple[Any, ...]]:
    """Read payouts in the order of their keys, in which they are locked, too."""
    of_account = (payouts.c.account_id == account_id, payouts.c.reference_sha256.in_(digests))
    return select(payouts).where(*of_account).order_by(payouts.c.reference_sha256)


def _digests(rows: Sequence[Record]) -> list[bytes]:
    return [row.reference_sha256 for row in rows]


async def _lines_of(connection: AsyncConnection, rows: Sequence[Record]) -> dict[bytes, bytes]:
    """Return the lines of some payouts of one account by the digests of their references."""
    tries: dict[bytes, list[Record]] = {row.reference_sha256: [] for row in rows}
    if rows:
        key = attempts.c
        wanted = select(attempts).where(
            key.account_id == rows[0].account_id, key.reference_sha256.in_([*tries])
        )
        for row in await connection.execute(wanted.order_by(key.number)):
            tries[row.reference_sha256].append(row)
    return {row.reference_sha256: lines.line(row, tries[row.reference_sha256]) for row in rows}


def _archived(row: Record) -> dict[str, object]:
    """Return what stays of a payout."""
    kept: dict[str, object] = {each.name: getattr(row, each.name) for each in archived_payouts.c}
    sent = hidden_destination(columns.read(row.destination_sent))
    return kept | {"destination_sent": columns.written(sent)}
