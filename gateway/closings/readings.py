"""The result of the last reading of a day, stored so that pages need no bank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, Select, and_, delete, func, select, union_all, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.accounts.store import read_account
from gateway.closings.model import Day, Line
from gateway.core.account import Account
from gateway.core.windows import local_end
from gateway.statements.model import local_day
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import accounts, day_readings

MISSED_DAYS: Final = 7
"""Days that a worker reads later, after it was away; people read older ones."""
NINE: Final = timedelta(hours=9)
"""After midnight in São Paulo: by then every day is reconciled."""
_AGAIN: Final = timedelta(hours=1)
"""A day that differs: a payout may become known, or the bank show a movement late."""
_RETRY: Final = timedelta(minutes=5)
_LINES: Final = 20
"""Of the lines that differ; the closing of the day shows all of them."""
_MOST: Final = 500
_READ: Final = day_readings.c
_FIGURES: Final = ("opening", "credits", "debits", "fees", "returns", "closing", "paid")


class Problem(StrEnum):
    """
    Why a try found nothing.

    BANK: no usable answer. BALANCE: it changed while the movements were read. NOT_OFFERED: the bank
    shows no balance, no movements, or none that name payouts; it is not asked again.
    """

    BANK = "bank"
    BALANCE = "balance"
    NOT_OFFERED = "not_offered"


class DayReading(Struct, frozen=True, kw_only=True):
    """
    The last reading of an account's day; the figures are None until the bank has answered.

    Attributes:
        gap: The opening balance less the closing balance of the day before, in centavos; 0 too
            where that day was not read.
        differences, differing: Lines that differ: not explained, and all.
        lines: The first of the lines that need an explanation.
        problem: A word of ``Problem``; empty where the last try read the day.
        next_at: When it is read again; None where that is not needed.
    """

    account_id: str
    day: date
    opening: int | None = None
    credits: int | None = None
    debits: int | None = None
    fees: int | None = None
    returns: int | None = None
    closing: int | None = None
    paid: int | None = None
    gap: int = 0
    differences: int = 0
    differing: int = 0
    lines: Sequence[Line] = ()
    digest: str = ""
    movements: str = ""
    read_at: datetime | None = None
    tried_at: datetime
    problem: str = ""
    next_at: datetime | None = None

    @property
    def has_difference(self) -> bool:
        """Return whether anything differs, explained or not."""
        return bool(self.differing or self.gap)


def read_reading(row: Record) -> DayReading:
    """Read a row."""
    fields = {name: getattr(row, name) for name in DayReading.__struct_fields__}
    lines = msgspec.json.decode(row.lines, type=list[Line])
    return DayReading(**{**fields, "lines": lines})


def last_day(now: datetime, after_midnight: timedelta) -> date:
    """Return the last day of São Paulo that ended at least so long ago."""
    return local_day(now - after_midnight) - timedelta(days=1)


class DayReadings:
    """
    The readings of days; each method raises ``StoreUnavailable``.

    ``after_midnight`` is how long after its end a day is read.
    """

    def __init__(self, database: Database, after_midnight: timedelta) -> None:
        self.database = database
        self.after_midnight = after_midnight

    async def of(self, account_id: str, day: date) -> DayReading | None:
        """Return the reading of an account's day; None where none was tried."""
        row = await self.database.first(select(day_readings).where(*_key(account_id, day)))
        return None if row is None else read_reading(row)

    async def due(self, now: datetime, provider: str) -> Sequence[tuple[Account, Sequence[date]]]:
        """
        Return active accounts at a provider with the days to read, the oldest day first.

        At most 500 days of accounts are returned.
        """
        found: dict[str, tuple[Account, set[date]]] = {}
        active = accounts.c.active, accounts.c.provider == provider
        rows: list[tuple[Record, date]] = []
        for day in _days_until(last_day(now, self.after_midnight)):
            unread = _unread(day).where(*active).limit(_MOST)
            rows += [(row, day) for row in await self.database.rows(unread)]
        again = (
            select(accounts, _READ.day)
            .join(day_readings, _READ.account_id == accounts.c.id)
            .where(*active, _READ.next_at <= now)
            .order_by(_READ.day, _READ.tried_at, accounts.c.id)
            .limit(_MOST)
        )
        rows += [(row, row.day) for row in await self.database.rows(again)]
        for row, day in rows[:_MOST]:
            found.setdefault(row.id, (read_account(row), set()))[1].add(day)
        return [(account, sorted(days)) for account, days in found.values()]

    async def note(self, account_id: str, read: Day, now: datetime) -> None:
        """
        Keep what a reading found, and how the day joins the days beside it.

        Nothing is kept of a day that is not final yet, or whose balance would not stand still.
        """
        if read.day > last_day(now, self.after_midnight):
            return
        if read.figures is None:
            await self.fail(account_id, read.day, Problem.BALANCE, now)
            return
        async with self.database.writing() as connection:
            before = await self._closing_before(connection, account_id, read.day)
            gap = 0 if before is None else read.figures.opening - before
            is_sound = not (read.differences or gap)
            row = {
                **asdict(read.figures),
                "gap": gap,
                "differences": read.differences,
                "differing": len(read.differing),
                "lines": msgspec.json.encode(read.unexplained[:_LINES]).decode(),
                "digest": read.digest,
                "movements": read.movements,
                "read_at": now,
                "tried_at": now,
                "problem": "",
                "next_at": None if is_sound else self._later(read.day, now, _AGAIN),
            }
            # A movement that came late to the day before shows in its figures once it is read anew.
            if gap:
                earlier = read.day - timedelta(days=1)
                await self._again_at(connection, account_id, earlier, now)
            await self._put(connection, account_id, read.day, row)
            await self._join_next(connection, account_id, read.day, read.figures.closing, now)

    async def fail(self, account_id: str, day: date, problem: Problem, now: datetime) -> None:
        """Keep why a try found nothing; what an earlier one found stays."""
        is_final = problem is Problem.NOT_OFFERED
        later = None if is_final else self._later(day, now, _RETRY)
        row = {"tried_at": now, "problem": problem.value, "next_at": later}
        async with self.database.writing() as connection:
            await self._put(connection, account_id, day, row)

    def _later(self, day: date, now: datetime, pause: timedelta) -> datetime | None:
        """Return when a day is read again; None for an old one."""
        is_old = day < last_day(now, self.after_midnight) - timedelta(days=MISSED_DAYS)
        return None if is_old else now + pause

    async def _put(
        self,
        connection: AsyncConnection,
        account_id: str,
        day: date,
        changed: Mapping[str, object],
    ) -> None:
        first = {**_EMPTY, "account_id": account_id, "day": day, **changed}
        if not await self.database.add(connection, day_readings, first):
            known = update(day_readings).where(*_key(account_id, day))
            await connection.execute(known.values(**changed))

    async def _closing_before(
        self, connection: AsyncConnection, account_id: str, day: date
    ) -> int | None:
        key = _key(account_id, day - timedelta(days=1))
        found: int | None = (await connection.execute(select(_READ.closing).where(*key))).scalar()
        return found

    async def _again_at(
        self, connection: AsyncConnection, account_id: str, day: date, at: datetime
    ) -> None:
        """Let a day be read again, unless that was done within the hour."""
        known = (*_key(account_id, day), _READ.next_at.is_(None), _READ.tried_at <= at - _AGAIN)
        await connection.execute(update(day_readings).where(*known).values(next_at=at))

    async def _join_next(
        self, connection: AsyncConnection, account_id: str, day: date, closing: int, now: datetime
    ) -> None:
        """Compare the day after with this day's closing balance."""
        after = day + timedelta(days=1)
        key = (*_key(account_id, after), _READ.opening.is_not(None))
        await connection.execute(
            update(day_readings).where(*key).values(gap=_READ.opening - closing)
        )
        differs = update(day_readings).where(*key, _READ.gap != 0, _READ.next_at.is_(None))
        await connection.execute(differs.values(next_at=self._later(after, now, _AGAIN)))


_EMPTY: Final[Mapping[str, object]] = {
    **dict.fromkeys((*_FIGURES, "read_at", "next_at")),
    **dict.fromkeys(("gap", "differences", "differing"), 0),
    **dict.fromkeys(("digest", "movements", "problem"), ""),
    "lines": "[]",
}


def _key(account_id: str, day: date) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return _READ.account_id == account_id, _READ.day == day


def _days_until(last: date) -> Sequence[date]:
    """Return the days that are read by themselves, oldest first."""
    return [last - timedelta(days=back) for back in reversed(range(MISSED_DAYS))]


def at_day(day: date) -> ColumnElement[bool]:
    """Return the SQL condition that joins accounts and their readings of a day."""
    return and_(_READ.account_id == accounts.c.id, _READ.day == day)


def existed(day: date) -> ColumnElement[bool]:
    """Return the SQL condition: the account was there before the day ended."""
    return accounts.c.created_at < local_end(day)


def _unread(day: date) -> Select[*tuple[object, ...]]:
    """Select the accounts whose day was never tried."""
    return (
        select(accounts)
        .outerjoin(day_readings, at_day(day))
        .where(_READ.account_id.is_(None), existed(day))
        .order_by(accounts.c.id)
    )


async def forget_readings(database: Database, before: date) -> int:
    """Delete readings of days before a day; return the number."""
    return await database.write(delete(day_readings).where(_READ.day < before))


async def not_reconciled(database: Database, now: datetime) -> Mapping[str, int]:
    """
    Count days of active accounts that no bank's answer reconciled by nine o'clock, by provider.

    Days of the last week count; days of banks that do not show what is needed do not.
    """
    parts = [
        select(accounts.c.provider, func.count().label("days"))
        .select_from(accounts)
        .outerjoin(day_readings, at_day(day))
        .where(
            accounts.c.active,
            accounts.c.provider != "",
            existed(day),
            _READ.read_at.is_(None),
            func.coalesce(_READ.problem, "") != Problem.NOT_OFFERED.value,
        )
        .group_by(accounts.c.provider)
        for day in _days_until(last_day(now, NINE))
    ]
    found: dict[str, int] = {}
    for row in await database.rows(union_all(*parts)):
        found[row.provider] = found.get(row.provider, 0) + row.days
    return found
