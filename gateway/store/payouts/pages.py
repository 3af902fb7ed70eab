"""
Pages of an account's payouts, newest first, and how many lie in a window.

Pages that are asked for at the same time are found one after another on one connection.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, bindparam, func, literal, select

from gateway.domain.kernel.windows import Search
from gateway.domain.payouts.payouts import ListedPayout, Payout, PayoutState
from gateway.store.kernel.batching import BatchLimits, BatchQueue, faults_of_rows
from gateway.store.kernel.database import Database, failures_as_ours
from gateway.store.kernel.hot_statements import BulkRow, Execution
from gateway.store.payouts.rows import LISTED, listed_payout, restored_payout
from gateway.store.payouts.totals import PayoutTotals, length
from gateway.store.tables.columns import Record
from gateway.store.tables.core import payouts

_BATCHES: Final = 2
_MOST: Final = 16
"""Pages of a batch: the last one waits for all; what a batch saves hardly grows beyond."""

_INSIDE = (
    payouts.c.account_id == bindparam("account_id"),
    payouts.c.created_at >= bindparam("start"),
    payouts.c.created_at < bindparam("end"),
)
# The index of the window finds them. An index of states would be written at every step of every
# payout, to serve a list that people open now and then.
_STANDING = payouts.c.state.in_(bindparam("states", expanding=True))
_WALKED = select(func.count()).select_from(payouts).where(*_INSIDE, _STANDING)
_LENGTH = length()
_LENGTH_STANDING = (
    literal(0).label("remembered"),
    _WALKED.scalar_subquery().label("walked"),
)


class _List:
    """The statements of a list: a page of it, its length, and the first page with its length."""

    def __init__(
        self,
        shown: Iterable[ColumnElement[Any]],
        length: Sequence[ColumnElement[int]],
        *only: ColumnElement[bool],
    ) -> None:
        self.page: Select[*tuple[Any, ...]] = (
            select(*shown)
            .where(*_INSIDE, *only)
            .order_by(payouts.c.created_at.desc(), payouts.c.reference.desc())
            .limit(bindparam("limit"))
            .offset(bindparam("offset"))
        )
        self.length = select(*length)
        self.first = self.page.add_columns(*length)


_WHOLE = _List(payouts.c, _LENGTH)
_LISTED = _List(LISTED, _LENGTH)
_LISTED_STANDING = _List(LISTED, _LENGTH_STANDING, _STANDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Rows of a page, and the length of its list: what was remembered, and what was walked."""

    rows: Sequence[Record] = ()
    remembered: int = 0
    walked: int = 0

    @property
    def total(self) -> int:
        """How many there are."""
        return self.remembered + self.walked


class PayoutPages:
    """Every page of an account's payouts from a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._totals = PayoutTotals(database, database.now)
        self._queue: BatchQueue[BulkRow, _Found] = BatchQueue(
            self._find,
            BatchLimits(
                count=_BATCHES,
                most=_MOST,
                queue_s=database.checkout_s,
                whole_s=database.whole_s,
            ),
        )

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
            async with self._database.reading() as connection:
                asked["states"] = sorted(states)
                found = await _found(_LISTED_STANDING, asked, connection)
        else:
            with failures_as_ours():
                found = await self._queue.ask(asked)
            self._totals.walked(account_id, search.window, found.walked)
        return [listed_payout(row) for row in found.rows], found.total

    async def whole(self, account_id: str, search: Search) -> tuple[Sequence[Payout], int]:
        """
        Return the page of ``search`` with all that is stored of each payout.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        async with self._database.reading() as connection:
            found = await _found(_WHOLE, _asked(account_id, search), connection)
        self._totals.walked(account_id, search.window, found.walked)
        return [restored_payout(row) for row in found.rows], found.total

    async def close(self) -> None:
        """Finish what was asked for."""
        await self._queue.close()
        await self._totals.close()

    async def _find(self, asked: Sequence[BulkRow]) -> Sequence[_Found]:
        """Find all; where one fails by itself, each is asked for alone."""
        async with self._database.reading_at_once() as execution:
            with faults_of_rows(of=len(asked)):
                return [await _found(_LISTED, each, execution) for each in asked]


async def _found(listed: _List, asked: BulkRow, connection: Execution) -> _Found:
    """Find a page and the length of its list; the first page by one statement."""
    if not asked["offset"]:
        rows = (await connection.execute(listed.first, asked)).all()
        return _with_rows(rows, rows[0]) if rows else _Found()
    inside = {name: each for name, each in asked.items() if name not in {"limit", "offset"}}
    [known] = (await connection.execute(listed.length, inside)).all()
    # Past the end a database would walk the whole window to find nothing.
    beyond = asked["offset"] >= known.remembered + known.walked
    rows = [] if beyond else (await connection.execute(listed.page, asked)).all()
    return _with_rows(rows, known)


def _with_rows(rows: Sequence[Record], known: Record) -> _Found:
    return _Found(rows=rows, remembered=known.remembered, walked=known.walked)


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
