"""Pages of an account's payouts, newest first, and how many lie in a window."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, bindparam, func, select
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.kernel.windows import Search
from gateway.domain.payouts.payouts import ListedPayout, Payout, PayoutState
from gateway.store.kernel.database import Database, failures_as_ours
from gateway.store.payouts.rows import LISTED, listed_payout, restored_payout
from gateway.store.tables.columns import Record
from gateway.store.tables.core import payouts

_AT_ONCE: Final = 2
"""Connections that lists may take: however many are asked for, payouts find one in the pool."""

_INSIDE = (
    payouts.c.account_id == bindparam("account_id"),
    payouts.c.created_at >= bindparam("start"),
    payouts.c.created_at < bindparam("end"),
)
# The index of the window finds them. An index of states would be written at every step of every
# payout, to serve a list that people open now and then.
_STANDING = payouts.c.state.in_(bindparam("states", expanding=True))


class _List:
    """The statements of a list: a page of it, its length, and the first page with its length."""

    def __init__(self, shown: Iterable[ColumnElement[Any]], *only: ColumnElement[bool]) -> None:
        self.page: Select[*tuple[Any, ...]] = (
            select(*shown)
            .where(*_INSIDE, *only)
            .order_by(payouts.c.created_at.desc(), payouts.c.reference.desc())
            .limit(bindparam("limit"))
            .offset(bindparam("offset"))
        )
        self.length = select(func.count()).select_from(payouts).where(*_INSIDE, *only)
        self.first = self.page.add_columns(self.length.scalar_subquery().label("total"))


_WHOLE = _List(payouts.c)
_LISTED = _List(LISTED)
_LISTED_STANDING = _List(LISTED, _STANDING)


class PayoutPages:
    """Every page of an account's payouts from a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def search(
        self, account_id: str, search: Search, states: Collection[PayoutState] = ()
    ) -> tuple[Sequence[ListedPayout], int]:
        """
        Return a page, newest created first, and how many lie in the window.

        Payouts created at the same instant are in falling order of their references. With
        ``states``, only payouts in one of these are counted and returned.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        asked = _asked(account_id, search)
        if states:
            asked["states"] = sorted(states)
        async with self._reading() as connection:
            rows, total = await _found(_LISTED_STANDING if states else _LISTED, asked, connection)
        return [listed_payout(row) for row in rows], total

    async def whole(self, account_id: str, search: Search) -> tuple[Sequence[Payout], int]:
        """
        Return the page of ``search`` with all that is stored of each payout.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        async with self._reading() as connection:
            rows, total = await _found(_WHOLE, _asked(account_id, search), connection)
        return [restored_payout(row) for row in rows], total

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection to read from, in the order in which lists are asked for."""
        with failures_as_ours():
            async with asyncio.timeout(self._database.checkout_s):
                await self._turns.acquire()
        try:
            async with self._database.reading() as connection:
                yield connection
        finally:
            self._turns.release()


async def _found(
    listed: _List, asked: dict[str, Any], connection: AsyncConnection
) -> tuple[Sequence[Record], int]:
    """Find a page and the length of its list; the first page by one statement."""
    if not asked["offset"]:
        rows = (await connection.execute(listed.first, asked)).all()
        return rows, rows[0].total if rows else 0
    total = (await connection.execute(listed.length, asked)).scalar_one()
    # Past the end a database would walk the whole window to find nothing.
    if asked["offset"] >= total:
        return [], total
    return (await connection.execute(listed.page, asked)).all(), total


def _asked(account_id: str, search: Search) -> dict[str, Any]:
    """Return the parameters of a page."""
    window, paging = search.window, search.paging
    return {
        "account_id": account_id,
        "start": window.start,
        "end": window.end,
        "limit": paging.limit,
        "offset": paging.offset,
    }
