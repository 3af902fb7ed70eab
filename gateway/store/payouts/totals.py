"""
How many payouts an account has in a window, without walking those that were counted before.

Of each UTC day the store remembers how many payouts were created up to an instant of it. Nothing
here relies on a clock, or on who writes: a trigger of the database forgets what is remembered of a
day as soon as anybody stores a payout there, however late. The instant is chosen so that this is
rare: five minutes ago at most, so that a day is closed five minutes after its end.

Remembering is done in three units of work. First the instant is announced: from then on the trigger
is on guard. Whoever was storing a payout of the account at that moment is not waited for, and
nothing is announced: on PostgreSQL the foreign key of every new payout locks the account's row, and
so does the announcement, if it can at once; the trigger comes behind the foreign key. Then the
payouts before it are counted. Then the count is written, unless the trigger forgot the day
meanwhile, which ``changes`` tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    bindparam,
    cast,
    func,
    select,
    union_all,
    update,
)

from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.kernel.windows import Window
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Instant, Record
from gateway.store.tables.core import accounts, payouts
from gateway.store.tables.figures import payout_totals

WORTH: Final = 2_000
"""Payouts walked for one answer: fewer cost less than a tenth of a millisecond."""
_LATE: Final = timedelta(minutes=5)
"""A payout is stored within seconds of its instant, which its own process chose before."""
_STEP: Final = timedelta(minutes=10)
"""Today is counted again this often: what lies behind is walked, and that is little."""
_DAY: Final = timedelta(days=1)

_ACCOUNT: BindParameter[str] = bindparam("account_id")
_START, _END = bindparam("start", type_=Instant), bindparam("end", type_=Instant)
_KEPT = payout_totals.c
_OF_WINDOW = (_KEPT.account_id == _ACCOUNT, _KEPT.day >= _START, _KEPT.day < _END)


def length() -> tuple[ColumnElement[int], ColumnElement[int]]:
    """
    Return the length of a window as two numbers to be added: ``remembered`` and ``walked``.

    Parameters are ``account_id``, ``start`` and ``end``: whole UTC days.
    """
    remembered = select(func.coalesce(func.sum(_KEPT.total), 0)).where(*_OF_WINDOW)
    known = union_all(
        select(_KEPT.day, _KEPT.until).where(*_OF_WINDOW, _KEPT.until > _KEPT.day),
        select(_START.label("day"), _START.label("until")),
    ).subquery("known")
    after = func.lead(known.c.day, 1, _END).over(order_by=(known.c.day, known.c.until))
    gaps = select(known.c.until, after.label("after")).subquery("gaps")
    walked = select(func.sum(_number(gaps.c.until, gaps.c.after))).select_from(gaps)
    return (
        cast(remembered.scalar_subquery(), BigInteger).label("remembered"),
        cast(walked.scalar_subquery(), BigInteger).label("walked"),
    )


def _number(start: ColumnElement[Any], end: ColumnElement[Any]) -> ColumnElement[int]:
    """Count the account's payouts from an instant on and before another one."""
    of = (payouts.c.account_id == _ACCOUNT, payouts.c.created_at >= start)
    return select(func.count()).where(*of, payouts.c.created_at < end).scalar_subquery()


_DUE = select(_KEPT.day, _KEPT.announced).where(*_OF_WINDOW)
_HOLD = select(accounts.c.id).where(accounts.c.id == _ACCOUNT).with_for_update(skip_locked=True)
_ANNOUNCE = (
    update(payout_totals)
    .where(_KEPT.account_id == bindparam("was_account_id"), _KEPT.day == bindparam("was_day"))
    .where(_KEPT.announced < bindparam("new_announced"))
    .values(announced=bindparam("new_announced"))
)
_ANNOUNCED = select(
    *(_KEPT.day, _KEPT.until, _KEPT.announced, _KEPT.changes),
    _number(_KEPT.until, _KEPT.announced).label("number"),
).where(*_OF_WINDOW, _KEPT.announced > _KEPT.until)
_WRITE = (
    update(payout_totals)
    .where(_KEPT.account_id == bindparam("was_account_id"), _KEPT.day == bindparam("was_day"))
    .where(_KEPT.until == bindparam("was_until"), _KEPT.changes == bindparam("was_changes"))
    .values(until=bindparam("new_until"), total=_KEPT.total + bindparam("number"))
)


class PayoutTotals:
    """Remembers what was walked, one window at a time, behind the answer that it was walked for."""

    def __init__(self, database: Database, now: Now, worth: int = WORTH) -> None:
        """Remember windows for which at least ``worth`` payouts were walked."""
        self._database = database
        self._now = now
        self._worth = worth
        self._context = copy_context()
        self._task: asyncio.Task[None] | None = None

    def walked(self, account_id: str, window: Window, number: int) -> None:
        """Take note that payouts were walked; returns at once."""
        if number >= self._worth and (self._task is None or self._task.done()):
            work, loop = self._try(account_id, window), asyncio.get_running_loop()
            self._task = loop.create_task(work, name="payout totals", context=self._context)

    async def close(self) -> None:
        """Finish what is being remembered."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _try(self, account_id: str, window: Window) -> None:
        # The next one who asks tries again, and has his answer in any case.
        with suppress(StoreUnavailable):
            await self.remember(account_id, window)

    async def remember(self, account_id: str, window: Window) -> None:
        """
        Remember the days of a window, as far as they are past.

        Raises:
            StoreUnavailable: the store did not answer; what is remembered is right nevertheless.
        """
        asked = {"account_id": account_id, "start": window.start, "end": window.end}
        async with self._database.reading() as connection:
            rows = (await connection.execute(_DUE, asked)).all()
        known = {row.day: row.announced for row in rows}
        due = list(_due(window, self._now() - _LATE, known))
        if due and not await self._announce(account_id, due):
            return
        async with self._database.reading() as connection:
            found = (await connection.execute(_ANNOUNCED, asked)).all()
        if found:
            await self._write(account_id, found)

    async def _announce(self, account_id: str, due: Sequence[tuple[datetime, datetime]]) -> bool:
        """Put the trigger on guard; False when a payout of the account is being stored."""
        new = [_row(account_id, day) for day, _ in due]
        until = [
            {"was_account_id": account_id, "was_day": day, "new_announced": until}
            for day, until in due
        ]
        async with self._database.writing() as connection:
            held = (await connection.execute(_HOLD, {"account_id": account_id})).all()
            if held:
                await connection.execute(self._database.insert_new(payout_totals), new)
                await connection.execute(_ANNOUNCE, until)
        return bool(held)

    async def _write(self, account_id: str, found: Sequence[Record]) -> None:
        rows = [
            {
                "was_account_id": account_id,
                "was_day": row.day,
                "was_until": row.until,
                "was_changes": row.changes,
                "new_until": row.announced,
                "number": row.number,
            }
            for row in found
        ]
        async with self._database.writing() as connection:
            await connection.execute(_WRITE, rows)


def _due(
    window: Window, before: datetime, known: Mapping[datetime, datetime]
) -> Iterator[tuple[datetime, datetime]]:
    """Return days, and up to when each can be announced, where that is later than it is."""
    day, step = window.start, before - (before - datetime.min.replace(tzinfo=UTC)) % _STEP
    while day < min(window.end, step):
        until = min(day + _DAY, step)
        if until > known.get(day, day):
            yield day, until
        day += _DAY


def _row(account_id: str, day: datetime) -> Mapping[str, object]:
    """Return the row of a day of which nothing is known."""
    return {
        "account_id": account_id,
        "day": day,
        "until": day,
        "announced": day,
        "total": 0,
        "changes": 0,
    }
