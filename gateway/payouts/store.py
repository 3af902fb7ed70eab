"""
Payouts and their attempts in the store.

Looks of one moment, for single payouts and for others like one, share a statement. A look begins
after it was asked for: it sees every commit that was acknowledged before.

One atomic insert creates a payout, compare-and-set changes its state, and nothing deletes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, func, select
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.banks.port.payout_orders import normal_destination
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Search
from gateway.payouts.model import (
    Attempt,
    Change,
    Claim,
    Intent,
    ListedPayout,
    Payout,
    PayoutRequest,
    PayoutState,
    Precedents,
)
from gateway.payouts.rows import (
    LISTED,
    check,
    key_columns,
    listed_payout,
    restored_attempt,
    restored_payout,
)
from gateway.payouts.writes import PayoutWriter, by_keys
from gateway.store.kernel.batching import BatchLimits, BatchQueue, faults_of_rows
from gateway.store.kernel.database import Database, failures_as_ours
from gateway.store.kernel.hot_statements import Execution, Key, bound
from gateway.store.tables import columns
from gateway.store.tables.columns import Record, instant_unseen, reference_digest
from gateway.store.tables.core import attempts, payouts

# A second batch is for the time in which the first waits for the server; more only split batches.
_BATCHES = 2
# Paying again after one of these duplicates nothing: no money moved.
_MOVED_NOTHING = (PayoutState.REJECTED.value, PayoutState.FAILED.value)
_CONTENT = (payouts.c.account_id, payouts.c.centavos, payouts.c.destination)
_MOVED = select(
    *_CONTENT, payouts.c.reference, payouts.c.reference_sha256, payouts.c.created_at
).where(
    # One by one: a list would be written into the statement each time.
    *(payouts.c.state != each for each in _MOVED_NOTHING),
    payouts.c.created_at >= instant_unseen(bindparam("since", type_=payouts.c.created_at.type)),
)
Content = tuple[str, int, str]
Rows = Sequence[Record]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    """A search for payouts with this content but another reference, created since an instant."""

    content: Content
    digest: bytes
    since: datetime

    def own(self, alike: Mapping[Content, Rows]) -> Rows:
        """Return the rows that this query finds among those that were found for several."""
        return [
            row
            for row in alike.get(self.content, ())
            if row.reference_sha256 != self.digest and row.created_at >= self.since
        ]


class _Look(NamedTuple):
    """
    A search for a payout by its key, for payouts by their content, or for both at once.

    Its answer is the rows of each.
    """

    key: Key | None = None
    query: _Query | None = None


def _look_before(account_id: str, request: PayoutRequest, since: datetime | None) -> _Look:
    key = account_id, reference_digest(request.reference)
    if since is None:
        return _Look(key)
    return _Look(key, _query(key, request, since))


def _query(key: Key, like: Payout | PayoutRequest, since: datetime) -> _Query:
    account_id, digest = key
    destination = columns.written(normal_destination(like.destination))
    return _Query(
        content=(account_id, like.value.centavos, destination), digest=digest, since=since
    )


_AROUND = (
    select(payouts)
    .where(
        payouts.c.account_id == bindparam("account_id"),
        payouts.c.centavos == bindparam("centavos"),
        payouts.c.destination == bindparam("destination"),
        payouts.c.created_at.between(bindparam("start"), bindparam("end")),
        payouts.c.reference_sha256 != bindparam("digest"),
        payouts.c.state.not_in(_MOVED_NOTHING),
    )
    .order_by(payouts.c.created_at)
    .limit(bindparam("most"))
)
_ATTEMPTS = (
    select(attempts)
    .where(
        attempts.c.account_id == bindparam("account_id"),
        attempts.c.reference_sha256 == bindparam("reference_sha256"),
    )
    .order_by(attempts.c.number)
)


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


class StoredPayouts:
    """Payouts by account and reference; rows are never deleted."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer = PayoutWriter(database)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        lately = database.each_of(_MOVED, _CONTENT, "contents")
        self._alike = lately.order_by(payouts.c.created_at)
        self._looks: BatchQueue[_Look, tuple[Rows, Rows]] = BatchQueue(
            self._look,
            BatchLimits(count=_BATCHES, queue_s=database.checkout_s, whole_s=database.whole_s),
        )

    async def add(
        self, payout: Payout, attempt: Attempt, *, limited: bool = False
    ) -> Payout | None:
        """
        Store the intent by one atomic insert.

        With ``limited``, the limits of its credential are checked in the same transaction.

        Returns:
            None when this payout is stored durably; else the payout that has the reference
            already, and nothing was stored.

        Raises:
            LimitReached: it is above a limit of its credential; nothing was stored.
            StoreUnavailable: whether it was stored may be unknown; read it by its reference.
        """
        result = await self._writer.write(Intent(payout, attempt, limited))
        if isinstance(result, Payout):
            return result
        if not result:
            # Never return None for an intent that is not known to be stored: it would be sent.
            problem = "an intent is stored or has a rival"
            raise StoreUnavailable(problem)
        return None

    async def claim(self, payout: Payout, attempt: Attempt, *, limited: bool = False) -> bool:
        """
        Move NOT_SENT to SENDING with the next attempt; False when another caller did.

        The stored payout takes date and credential from ``payout``, and provider, lease and time
        of change from ``attempt``. ``limited`` works as in ``add``.

        Raises:
            LimitReached: it is above a limit of its credential; nothing was changed.
            StoreUnavailable: whether it was done may be unknown.
        """
        return await self._writer.write(Claim(payout, attempt, limited)) is True

    async def record(self, change: Change) -> bool:
        """
        Do a step by compare-and-set; False when the payout was in another state or attempt.

        An attempt that is proven unsent keeps that outcome, whatever becomes of the payout.

        Raises:
            ValueError: ``after`` may not follow each of ``before``, or it is SENDING, to which
                only ``claim`` leads. A mistake in our code.
            StoreUnavailable: whether it was done may be unknown.
        """
        check(change)
        return await self._writer.write(change) is True

    async def close(self) -> None:
        """Finish what was asked so far; from now on only lists and attempts can be read."""
        for each in (self._writer, self._looks):
            await each.close()

    async def find(self, account_id: str, reference: str) -> Payout | None:
        """
        Return one as it stands after this was called.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        with failures_as_ours():
            key = account_id, reference_digest(reference)
            rows, _ = await self._looks.ask(_Look(key))
        return restored_payout(rows[0]) if rows else None

    async def precedents(
        self, account_id: str, request: PayoutRequest, since: datetime | None
    ) -> Precedents:
        """
        Return what a new payout meets.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        with failures_as_ours():
            named, alike = await self._looks.ask(_look_before(account_id, request, since))
        return Precedents(
            restored_payout(named[0]) if named else None, [row.reference for row in alike]
        )

    async def similar(self, payout: Payout, since: datetime) -> Sequence[str]:
        """
        Return other references created since with the same amount and destination, oldest first.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        with failures_as_ours():
            key = payout.account_id, reference_digest(payout.reference)
            _, alike = await self._looks.ask(_Look(query=_query(key, payout, since)))
        return [row.reference for row in alike]

    async def similar_around(
        self, payout: Payout, within: timedelta, most: int
    ) -> Sequence[Payout]:
        """Return ``similar`` ones created shortly before or after it, the oldest ``most``."""
        asked = {
            "account_id": payout.account_id,
            "centavos": payout.value.centavos,
            "destination": columns.written(normal_destination(payout.destination)),
            "start": payout.created_at - within,
            "end": payout.created_at + within,
            "digest": reference_digest(payout.reference),
            "most": most,
        }
        rows = await self._database.rows(_AROUND, asked)
        return [restored_payout(row) for row in rows]

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
        async with self._reading_lists() as connection:
            rows, total = await _found(_LISTED_STANDING if states else _LISTED, asked, connection)
        return [listed_payout(row) for row in rows], total

    async def whole(self, account_id: str, search: Search) -> tuple[Sequence[Payout], int]:
        """
        Return the page of ``search`` with all that is stored of each payout.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        async with self._reading_lists() as connection:
            rows, total = await _found(_WHOLE, _asked(account_id, search), connection)
        return [restored_payout(row) for row in rows], total

    async def attempts(self, account_id: str, reference: str) -> Sequence[Attempt]:
        """Return every attempt of a payout, oldest first."""
        rows = await self._database.rows(_ATTEMPTS, key_columns(account_id, reference))
        return [restored_attempt(row) for row in rows]

    @asynccontextmanager
    async def _reading_lists(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection to read from, in the order in which lists are asked for."""
        with failures_as_ours():
            async with asyncio.timeout(self._database.checkout_s):
                await self._turns.acquire()
        try:
            async with self._database.reading() as connection:
                yield connection
        finally:
            self._turns.release()

    async def _look(self, looks: Sequence[_Look]) -> Sequence[tuple[Rows, Rows]]:
        """Find all; where one cannot be sent to the database, each is asked for alone."""
        keys = list(dict.fromkeys(each.key for each in looks if each.key is not None))
        queries = [each.query for each in looks if each.query is not None]
        async with self._database.reading_at_once() as execution:
            with faults_of_rows(of=len(looks)):
                found = await self._rows_of(execution, keys)
                alike = await self._rows_like(execution, queries)
        return [
            (
                found.get(each.key, ()) if each.key is not None else (),
                each.query.own(alike) if each.query is not None else (),
            )
            for each in looks
        ]

    async def _rows_of(self, execution: Execution, keys: Sequence[Key]) -> Mapping[Key, Rows]:
        """Return the rows with these keys."""
        if not keys:
            return {}
        rows = await execution.execute(by_keys(self._database.among), bound("keys", keys))
        return {(row.account_id, row.reference_sha256): [row] for row in rows.all()}

    async def _rows_like(
        self, execution: Execution, queries: Sequence[_Query]
    ) -> Mapping[Content, Rows]:
        """Return the rows with the content of one of these, oldest first."""
        if not queries:
            return {}
        contents = list(dict.fromkeys(each.content for each in queries))
        given: dict[str, Any] = {
            "since": min(each.since for each in queries),
            **bound("contents", contents),
        }
        found: dict[Content, list[Record]] = {}
        for row in (await execution.execute(self._alike, given)).all():
            found.setdefault((row.account_id, row.centavos, row.destination), []).append(row)
        return found


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
