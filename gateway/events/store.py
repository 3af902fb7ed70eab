"""
Events in the store, and their order in the feeds.

A transaction that takes long commits an event behind later ones, so no number that is given at the
insert is an order in which a reader misses none. Positions are given when a feed is read: to the
account's committed events, by one transaction at a time.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    BindParameter,
    bindparam,
    exists,
    func,
    insert,
    literal,
    select,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.events.model import FEED_KEPT, Event, Wanted, new_event_id
from gateway.store.kernel.database import Database
from gateway.store.kernel.old_rows import delete_old
from gateway.store.kernel.partitions import FEEDS
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.core import event_feeds, events

RANDOM_ID: Final = partial(new_event_id, os.urandom)
"""Makes the id of an event; see ``new_event_id``."""
STORED_FOR: Final = FEED_KEPT + timedelta(days=2)
"""A day for whoever reads the oldest events, and one for clocks that differ."""
_AT_ONCE: Final = 500
"""Events that get their positions in one transaction, for which other readers of the feed wait."""
_ACCOUNTS_AT_ONCE: Final = 500
"""In one statement, of which SQLite takes some thousands of values."""
_NO_END: Final = 2**63 - 1
_ACCOUNT: Final[BindParameter[str]] = bindparam("account")
_OWN: Final = events.c.account_id == _ACCOUNT
_UNPLACED: Final = (_OWN, events.c.position.is_(None))
_FEED: Final = select(event_feeds.c.last).where(event_feeds.c.account_id == _ACCOUNT)
_STATE: Final = select(
    _FEED.scalar_subquery().label("last"), exists().where(*_UNPLACED).label("has_new")
)
_BEGINNING: Final = select(
    _FEED.scalar_subquery().label("last"),
    select(func.min(events.c.position))
    .where(_OWN, events.c.position.is_not(None), events.c.at >= bindparam("since"))
    .scalar_subquery()
    .label("first"),
)
_NEXT: Final = (
    select(events.c.at, events.c.number)
    .where(*_UNPLACED)
    .order_by(events.c.number)
    .limit(bindparam("most"))
)
_PLACE: Final = (
    update(events)
    .where(events.c.at == bindparam("of_at"), events.c.number == bindparam("of_number"))
    .values(position=bindparam("new_position"))
)
_MOVE_ON: Final = (
    update(event_feeds)
    .where(event_feeds.c.account_id == _ACCOUNT)
    .values(last=bindparam("new_last"))
)
_BETWEEN: Final = (
    select(events)
    .where(_OWN, events.c.position > bindparam("after"), events.c.position <= bindparam("last"))
    .where(events.c.at >= bindparam("since"))
    .order_by(events.c.position)
    .limit(bindparam("most"))
)
_BETWEEN_OF_TYPES: Final = _BETWEEN.where(events.c.type.in_(bindparam("types", expanding=True)))


class Placed(NamedTuple):
    """An event and its position in the feed."""

    position: int
    event: Event


class Reached(NamedTuple):
    """
    The end of a feed.

    Attributes:
        has_more: There are committed events behind it that have no position yet.
    """

    last: int
    has_more: bool


async def append(connection: AsyncConnection, *told: Event) -> None:
    """Add events inside the transaction of the change that they report."""
    await connection.execute(insert(events), [dict(row_of(each)) for each in told])


class EventRecords:
    """The events of accounts; ``StoreUnavailable`` when the store does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ends = union_all(
            select(event_feeds.c.account_id, event_feeds.c.last.label("reach")).where(
                database.one_of(event_feeds.c.account_id, "accounts")
            ),
            select(events.c.account_id, literal(_NO_END, BigInteger).label("reach"))
            .where(database.one_of(events.c.account_id, "accounts"), events.c.position.is_(None))
            .distinct(),
        )

    async def beginning(self, account_id: str, since: datetime) -> int:
        """Return the position in front of the first event of a feed since an instant."""
        row = await self._database.first(_BEGINNING, {"account": account_id, "since": since})
        if row is None or (row.first is None and row.last is None):
            return 0
        return int(row.last if row.first is None else row.first - 1)

    async def reach(self, account_id: str, begin: int, most: int) -> Reached:
        """
        Give positions to committed events: to so many behind ``begin``, or to all.

        None gets one where the feed ends in front of ``begin``: nobody has read that far.
        """
        while True:
            state = await self._database.first(_STATE, {"account": account_id})
            last = 0 if state is None or state.last is None else int(state.last)
            has_more = state is not None and bool(state.has_new)
            if not has_more or not begin <= last < begin + most:
                return Reached(last, has_more=has_more)
            await self._place(account_id)

    async def between(
        self, account_id: str, after: int, last: int, since: datetime, wanted: Wanted
    ) -> Sequence[Placed]:
        """
        Return the wanted events of a feed behind a position, up to another one.

        None of them is older than ``since``: so partitions that are older are not looked into.
        """
        given: dict[str, Any] = {
            "account": account_id,
            "after": after,
            "last": last,
            "since": since,
            "most": wanted.limit,
        }
        if wanted.types:
            given["types"] = sorted(wanted.types)
        rows = await self._database.rows(_BETWEEN_OF_TYPES if wanted.types else _BETWEEN, given)
        return [Placed(row.position, from_row(row, Event)) for row in rows]

    async def ends(self, account_ids: Collection[str]) -> Mapping[str, int]:
        """
        Return how far the feeds of accounts reach; feeds without events are left out.

        One with events that have no position yet reaches further than any position.
        """
        found: dict[str, int] = {}
        accounts = sorted(account_ids)
        for begin in range(0, len(accounts), _ACCOUNTS_AT_ONCE):
            given = {"accounts": accounts[begin : begin + _ACCOUNTS_AT_ONCE]}
            for row in await self._database.rows(self._ends, given):
                found[row.account_id] = max(found.get(row.account_id, 0), row.reach)
        return found

    async def forget(self, before: datetime) -> int:
        """Delete older events; return how many, or how many weeks on PostgreSQL."""
        if self._database.writer.dialect.name == "postgresql":
            return await FEEDS.renew(self._database, before)
        return await delete_old(self._database, events.c.at, before)

    async def _place(self, account_id: str) -> None:
        """Give the next positions of a feed."""
        own = {"account": account_id}
        async with self._database.writing() as connection:
            locked = _FEED.with_for_update()
            last = (await connection.execute(locked, own)).scalar()
            if last is None:
                first = {"account_id": account_id, "last": 0}
                await self._database.add(connection, event_feeds, first)
                last = (await connection.execute(locked, own)).scalar_one()
            # Another statement than the lock: it sees what was committed while that waited.
            new = (await connection.execute(_NEXT, {**own, "most": _AT_ONCE})).all()
            if not new:
                return
            placed = [
                {"of_at": row.at, "of_number": row.number, "new_position": last + count}
                for count, row in enumerate(new, start=1)
            ]
            await connection.execute(_PLACE, placed)
            await connection.execute(_MOVE_ON, {**own, "new_last": last + len(new)})
