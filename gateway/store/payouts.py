"""
Payouts and their attempts in the store.

One atomic insert makes a payout, compare-and-set moves it, nothing deletes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Table, Update, bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.domain.payouts import SUCCESSORS, Payout, PayoutState
from gateway.domain.stores import Attempt, Change
from gateway.domain.windows import Search
from gateway.store.attempts import attempt_row, restored_attempt
from gateway.store.database import Database
from gateway.store.payout_rows import (
    ending_columns,
    key_columns,
    payout_row,
    restored_payout,
    step_columns,
)
from gateway.store.tables import attempts, payouts

_FIND = select(payouts).where(
    payouts.c.account_id == bindparam("account_id"),
    payouts.c.reference_sha256 == bindparam("reference_sha256"),
)
_ATTEMPTS = (
    select(attempts)
    .where(
        attempts.c.account_id == bindparam("account_id"),
        attempts.c.reference_sha256 == bindparam("reference_sha256"),
    )
    .order_by(attempts.c.number)
)
_INSIDE = (
    payouts.c.account_id == bindparam("account_id"),
    payouts.c.created_at >= bindparam("start"),
    payouts.c.created_at < bindparam("end"),
)
_COUNT = select(func.count()).select_from(payouts).where(*_INSIDE)
_PAGE = (
    select(payouts)
    .where(*_INSIDE)
    .order_by(payouts.c.created_at.desc(), payouts.c.reference.desc())
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)


_MOVED_NOTHING = (PayoutState.REJECTED.value, PayoutState.FAILED.value)


class StoredPayouts:
    """``Payouts`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, payout: Payout, attempt: Attempt) -> Payout | None:
        """
        Store the intent by one atomic insert.

        Returns:
            None when it is ours now; else the row that was there first.
        """
        key = key_columns(payout.account_id, payout.reference)
        async with self._database.writing() as connection:
            if not await self._database.add(connection, payouts, payout_row(payout)):
                return restored_payout((await connection.execute(_FIND, key)).one())
            await connection.execute(insert(attempts), key | attempt_row(attempt))
        return None

    async def claim(self, payout: Payout, attempt: Attempt) -> bool:
        """
        Move NOT_SENT to SENDING with the next attempt; False when somebody else did.

        The payout's date becomes that of ``payout``; its provider, lease and
        time of change those of ``attempt``.
        """
        key = key_columns(payout.account_id, payout.reference)
        step = (
            update(payouts)
            .where(*_is(payouts, key))
            .where(payouts.c.state == PayoutState.NOT_SENT.value)
            .where(payouts.c.attempt == attempt.number - 1)
            .values(
                state=PayoutState.SENDING.value,
                attempt=attempt.number,
                provider=attempt.provider,
                date=payout.date,
                lease_until=attempt.lease_until,
                updated_at=attempt.started_at,
                next_check_at=attempt.lease_until,
            )
        )
        async with self._database.writing() as connection:
            if (await connection.execute(step)).rowcount == 0:
                return False
            await connection.execute(insert(attempts), key | attempt_row(attempt))
        return True

    async def record(self, change: Change) -> bool:
        """
        Do a step by compare-and-set; False when the row stood elsewhere.

        An attempt once proven unsent keeps that outcome, whatever becomes of
        the payout.

        Raises:
            ValueError: ``after`` may not follow one of ``before``, or it is
                SENDING, to which only ``claim`` leads.
        """
        async with self._database.writing() as connection:
            return await take_step(connection, change)

    async def find(self, account_id: str, reference: str) -> Payout | None:
        """Return one."""
        async with self._database.reading() as connection:
            found = await connection.execute(_FIND, key_columns(account_id, reference))
            row = found.first()
        return None if row is None else restored_payout(row)

    async def similar(self, payout: Payout, since: datetime) -> Sequence[str]:
        """Return other references created since with the same amount and destination."""
        columns = payout_row(payout)
        alike = (
            select(payouts.c.reference)
            .where(payouts.c.account_id == payout.account_id)
            .where(payouts.c.created_at >= since)
            .where(payouts.c.centavos == columns["centavos"])
            .where(payouts.c.destination == columns["destination"])
            .where(payouts.c.reference_sha256 != columns["reference_sha256"])
            .where(payouts.c.state.not_in(_MOVED_NOTHING))
            .order_by(payouts.c.created_at)
        )
        async with self._database.reading() as connection:
            return (await connection.execute(alike)).scalars().all()

    async def search(self, account_id: str, search: Search) -> tuple[Sequence[Payout], int]:
        """
        Return a page, newest created first, and how many lie in the window.

        Those of one instant are in falling order of their references.
        """
        window, paging = search.window, search.paging
        inside = {"account_id": account_id, "start": window.start, "end": window.end}
        page = {"limit": paging.limit, "offset": paging.offset}
        async with self._database.reading() as connection:
            total = (await connection.execute(_COUNT, inside)).scalar_one()
            # Past the end a database would walk the whole window to find nothing.
            if paging.offset >= total:
                return [], total
            rows = (await connection.execute(_PAGE, inside | page)).all()
        return [restored_payout(row) for row in rows], total

    async def attempts(self, account_id: str, reference: str) -> Sequence[Attempt]:
        """Return every try, oldest first."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(_ATTEMPTS, key_columns(account_id, reference))).all()
        return [restored_attempt(row) for row in rows]


async def take_step(connection: AsyncConnection, change: Change) -> bool:
    """Do a step inside a transaction of the caller's; see ``StoredPayouts.record``."""
    _check(change)
    if (await connection.execute(_step(change))).rowcount == 0:
        return False
    await connection.execute(_ending(change))
    return True


def _is(table: Table, key: Mapping[str, object]) -> Iterator[ColumnElement[bool]]:
    for name, value in key.items():
        yield table.c[name] == value


def _step(change: Change) -> Update:
    return (
        update(payouts)
        .where(*_is(payouts, key_columns(change.account_id, change.reference)))
        .where(payouts.c.attempt == change.attempt)
        .where(payouts.c.state.in_([state.value for state in change.before]))
        .values(step_columns(change))
    )


def _ending(change: Change) -> Update:
    return (
        update(attempts)
        .where(*_is(attempts, key_columns(change.account_id, change.reference)))
        .where(attempts.c.number == change.attempt)
        .values(ending_columns(change))
    )


def _check(change: Change) -> None:
    """Refuse a step the states do not allow; a mistake of ours, found before the store is asked."""
    if change.after is PayoutState.SENDING:
        problem = "only a claim leads to SENDING"
        raise ValueError(problem)
    allowed = {state for state, after in SUCCESSORS.items() if change.after in after}
    if not change.before or not change.before <= allowed:
        problem = f"{change.after} does not follow each of {sorted(change.before)}"
        raise ValueError(problem)
