"""
Tables of PostgreSQL in partitions by time: made ahead, dropped whole.

A row of a time that no partition is made for lies in the default partition, so that no INSERT fails
for want of one. The next ``renew`` moves it to the partition of its own time.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from sqlalchemy import Column, MetaData, Table, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.kernel.database import Database
from gateway.store.kernel.old_rows import delete_old
from gateway.store.tables.backoffice import requests
from gateway.store.tables.columns import Instant
from gateway.store.tables.core import events, payout_events

AHEAD: Final = timedelta(days=3)
"""How long before its first row a partition is made: the worker may be away for a weekend."""
MOVED_AT_ONCE: Final = 10_000
"""More rows of a time stay in the default partition: nobody can use the table while they move."""
_YOUNG: Final = timedelta(days=30)
"""What no partition is dropped for, by the database's clock: that of a process may be wrong."""
DAYS: Final = {"day": 1, "week": 7}
_DAY: Final = "%Y%m%d"
_BRIEFLY: Final = "SET LOCAL lock_timeout = '900ms'"
_MADE: Final = text(
    "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
    "WHERE inhparent = to_regclass(:table)"
)


@dataclass(frozen=True, slots=True)
class Partitions:
    """
    The partitions of a table by its column ``at``.

    Attributes:
        period: In UTC; each partition has the rows of one, and is named after its first day. A week
            begins on Monday.
    """

    table: Table
    period: Literal["day", "week"]

    async def renew(self, database: Database, before: datetime) -> int:
        """
        Create the next days' partitions; drop those whose rows are all older.

        Returns:
            How many were dropped, and old rows deleted that had none.

        Raises:
            StoreUnavailable: the table is in use, or another role's; what was done until then
                stays, and the next call does the rest.
        """
        default = Table(f"{self.table.name}_default", MetaData(), Column("at", Instant))
        gone = await delete_old(database, default.c.at, before)
        period = func.date_trunc(self.period, default.c.at, "UTC").label("start")
        strays = select(period, func.count().label("rows")).group_by(period)
        async with database.reading() as connection:
            made = (await connection.execute(_MADE, {"table": self.table.name})).scalars().all()
            counted = {each.start: each.rows for each in await connection.execute(strays)}
            server_now: datetime = (await connection.execute(select(func.now()))).scalar_one()
        # First what every new row needs: an old partition that is in use only takes room.
        now = database.now()
        wanted = {self._start(now + timedelta(days=days)) for days in range(AHEAD.days + 1)}
        for start in sorted(wanted | counted.keys()):
            if self._name(start) not in made and counted.get(start, 0) <= MOVED_AT_ONCE:
                await self._make(database, start)
        for name in self._older(made, min(before, server_now - _YOUNG)):
            await _do(database, _BRIEFLY, f"DROP TABLE {name}")
            gone += 1
        return gone

    async def end(self, connection: AsyncConnection, now: datetime) -> datetime:
        """Return until when partitions exist without a gap; the past if none exists."""
        made = (await connection.execute(_MADE, {"table": self.table.name})).scalars().all()
        end = self._start(now)
        while self._name(end) in made:
            end = self._end(end)
        return end

    async def _make(self, database: Database, start: datetime) -> None:
        table, name = self.table.name, self._name(start)
        first, end = f"'{start.isoformat()}'", f"'{self._end(start).isoformat()}'"
        await _do(
            database,
            _BRIEFLY,
            # Writers and readers wait in front of the table: a row on its way to the default
            # partition would be refused there, and a read that had found its partitions before
            # would look for the moved rows where they were.
            f"LOCK TABLE ONLY {table} IN ACCESS EXCLUSIVE MODE",
            f"LOCK TABLE {table}_default",
            # It may refuse that its rows are deleted: they only move.
            f"ALTER TABLE {table}_default DISABLE TRIGGER USER",
            f"CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS)",
            f"WITH moved AS (DELETE FROM {table}_default WHERE at >= {first} AND at < {end} "  # noqa: S608 - names and times of ours
            f"RETURNING *) INSERT INTO {name} SELECT * FROM moved",
            f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({end})",
            f"ALTER TABLE {table}_default ENABLE TRIGGER USER",
        )

    def _name(self, start: datetime) -> str:
        return f"{self.table.name}_{start:{_DAY}}"

    def _older(self, names: Collection[str], before: datetime) -> list[str]:
        """Return the partitions of a period that ended before an instant, the oldest first."""
        ends = {}
        for name in names:
            period = name.removeprefix(f"{self.table.name}_")
            if period.isdigit():
                start = datetime.strptime(period, _DAY).replace(tzinfo=UTC)
                ends[name] = self._end(start)
        return sorted(name for name, end in ends.items() if end <= before)

    def _start(self, at: datetime) -> datetime:
        """Return the beginning of an instant's period."""
        midnight = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=midnight.weekday() if self.period == "week" else 0)

    def _end(self, start: datetime) -> datetime:
        return start + timedelta(days=DAYS[self.period])


async def _do(database: Database, *statements: str) -> None:
    async with database.writing() as connection:
        for each in statements:
            await connection.exec_driver_sql(each)


REQUESTS: Final = Partitions(requests, "day")
# A look for the events of a payout goes through every partition, and locks each.
EVENTS: Final = Partitions(payout_events, "week")
# So does a look into an account's feed.
FEEDS: Final = Partitions(events, "week")
