"""
Payouts and their attempts in the store.

Concurrent reads of single payouts and of similar payouts share a statement. A read begins after it
was requested, so it sees every commit acknowledged before.

One atomic insert creates a payout, compare-and-set changes its state, and nothing but the archive
and the move of a company deletes it. An archived payout is found by its reference as before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    FromClause,
    Select,
    Subquery,
    Table,
    Update,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.banks.port.providers import PixReturn
from gateway.core.audit import AuditEvent
from gateway.core.money import Money
from gateway.core.night import NIGHT, Night
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Search
from gateway.events import store as account_events
from gateway.events.model import Event, EventType
from gateway.payouts import first_payees
from gateway.payouts.archived import ARCHIVED, YOUNGEST
from gateway.payouts.events import PayoutEvent, judged, opinion_withdrawn, released
from gateway.payouts.matching import MOST
from gateway.payouts.model import (
    Attempt,
    Change,
    Claim,
    FirstPayee,
    Intent,
    ListedPayout,
    Opinion,
    Payout,
    PayoutRequest,
    PayoutState,
    Precedents,
    normal_destination,
)
from gateway.payouts.rows import (
    LISTED,
    check,
    key_columns,
    listed_payout,
    opinion_columns,
    restored_attempt,
    restored_event,
    restored_opinion,
    restored_payout,
)
from gateway.payouts.writes import PayoutWriter, append_event, by_keys, record_step
from gateway.security.keys import Derivation
from gateway.security.sealing import SealBroken, Sealer
from gateway.store.kernel.batching import BatchLimits, BatchQueue, faults_of_rows
from gateway.store.kernel.database import Database, failures_as_ours
from gateway.store.kernel.partitions import EVENTS
from gateway.store.kernel.prepared import Execution, Key, bound
from gateway.store.tables import columns
from gateway.store.tables.columns import Record, instant_unseen, reference_digest
from gateway.store.tables.core import (
    archived_payouts,
    attempts,
    bank_names,
    opinions,
    payout_events,
    payouts,
    returns,
)

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
_KEYED = payouts.alias("keyed")
Content = tuple[str, int, str]
Rows = Sequence[Record]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    """A search for payouts with this content but another reference, created since an instant."""

    content: Content
    digest: bytes
    since: datetime

    def own(self, alike: Mapping[Content, Rows]) -> Rows:
        """Return this query's rows among the rows of several queries."""
        return [
            row
            for row in alike.get(self.content, ())
            if row.reference_sha256 != self.digest and row.created_at >= self.since
        ]


class _Lookup(NamedTuple):
    """
    A query by key, by content, or both at once.

    The result has the rows of each.
    """

    key: Key | None = None
    query: _Query | None = None


def _lookup_before(account_id: str, request: PayoutRequest, since: datetime | None) -> _Lookup:
    key = account_id, reference_digest(request.reference)
    if since is None:
        return _Lookup(key)
    return _Lookup(key, _query(key, request, since))


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
# One transaction deletes no more: a payout that is stored meanwhile waits for it.
_DELETED_AT_ONCE = 1_000
_EVENTS = (
    select(payout_events)
    .where(
        payout_events.c.account_id == bindparam("account_id"),
        payout_events.c.reference_sha256 == bindparam("reference_sha256"),
    )
    .order_by(payout_events.c.at, payout_events.c.number)
)
# In the order in which they were added, which is that of time but for a moment.
_OLDEST = (
    select(payout_events.c.number, payout_events.c.at)
    .where(payout_events.c.number > bindparam("after_number"))
    .order_by(payout_events.c.number)
    .limit(_DELETED_AT_ONCE)
)
_RETURNS = (
    select(returns)
    .where(
        returns.c.account_id == bindparam("account_id"),
        returns.c.reference_sha256 == bindparam("reference_sha256"),
    )
    .order_by(returns.c.at, returns.c.id)
    .limit(MOST)
)


_AT_ONCE: Final = 2
"""Connections that lists may take: however many are asked for, payouts find one in the pool."""


def _inside(table: Table) -> tuple[ColumnElement[bool], ...]:
    """Return the SQL condition: of an account and in a window."""
    return (
        table.c.account_id == bindparam("account_id"),
        table.c.created_at >= bindparam("start"),
        table.c.created_at < bindparam("end"),
    )


_INSIDE = _inside(payouts)
# The index of the window finds them. An index of states would be written at every step of every
# payout, to serve a list that people open now and then.
_STATES: BindParameter[Any] = bindparam("states", expanding=True)


class _List:
    """The statements of a list: a page of it, its length, and the first page with its length."""

    def __init__(
        self, shown: Iterable[Column[Any]], *, standing: bool = False, archived: bool = False
    ) -> None:
        source: FromClause = _inside_either() if archived else payouts
        inside = () if archived else _INSIDE
        only = (source.c.state.in_(_STATES),) if standing else ()
        self.page: Select[*tuple[Any, ...]] = (
            select(*(source.c[each.name] for each in shown))
            .where(*inside, *only)
            .order_by(source.c.created_at.desc(), source.c.reference.desc())
            .limit(bindparam("limit"))
            .offset(bindparam("offset"))
        )
        self.length = select(func.count()).select_from(source).where(*inside, *only)
        self.first = self.page.add_columns(self.length.scalar_subquery().label("total"))


class _Lists:
    """One list over the payouts, and over archived ones too where its window may hold some."""

    def __init__(self, shown: Iterable[Column[Any]], *, standing: bool = False) -> None:
        self.young = _List(shown, standing=standing)
        self.old = _List(shown, standing=standing, archived=True)

    def of(self, search: Search, now: datetime) -> _List:
        """Return the statements for a window."""
        return self.old if search.window.start < now - YOUNGEST else self.young


def _inside_either() -> Subquery:
    """Return the payouts inside, archived or not: a name of ``payouts`` that they all have."""
    archived = ARCHIVED.where(*_inside(archived_payouts))
    return union_all(select(payouts).where(*_INSIDE), archived).subquery("either")


_WHOLE = _Lists(payouts.c)
_LISTED = _Lists(LISTED)
_LISTED_STANDING = _Lists(LISTED, standing=True)


class StoredPayouts:
    """Payouts by account and reference; a reference that was stored is found for ever."""

    def __init__(
        self,
        database: Database,
        night: Night = NIGHT,
        new_event_id: Callable[[], str] = account_events.RANDOM_ID,
    ) -> None:
        self._database = database
        self._new_event_id = new_event_id
        self._writer = PayoutWriter(database, night)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        lately = database.each_of(_MOVED, _CONTENT, "contents")
        self._alike = lately.order_by(payouts.c.created_at)
        self._lookups: BatchQueue[_Lookup, tuple[Rows, Rows]] = BatchQueue(
            self._look_up,
            BatchLimits(count=_BATCHES, queue_s=database.checkout_s, whole_s=database.whole_s),
        )

    async def add(
        self,
        payout: Payout,
        attempt: Attempt | None,
        *,
        limited: bool = False,
        first: FirstPayee | None = None,
    ) -> Payout | None:
        """
        Store the intent by one atomic insert; a held one has no attempt.

        With ``limited``, the limits of its credential are checked in the same transaction; with
        ``first``, the orders to its payee.

        Returns:
            None when this payout is stored durably; else the payout that has the reference
            already, and nothing was stored.

        Raises:
            FirstPayeeLimit: its payee would get too much unheld; nothing was stored.
            LimitReached: it is above a limit of its credential; nothing was stored.
            StoreUnavailable: whether it was stored may be unknown; read it by its reference.
        """
        result = await self._writer.write(Intent(payout, attempt, limited, first))
        if isinstance(result, Payout):
            return result
        if not result:
            # Never return None for an intent that is not known to be stored: it would be sent.
            problem = "an intent is stored or has a rival"
            raise StoreUnavailable(problem)
        return None

    async def claim(
        self,
        payout: Payout,
        attempt: Attempt,
        *,
        limited: bool = False,
        before: PayoutState = PayoutState.NOT_SENT,
    ) -> bool:
        """
        Move ``before`` to SENDING with the next attempt; False when another caller did.

        The stored payout takes date, credential and bank account from ``payout``, and provider,
        lease and time of change from ``attempt``. ``limited`` works as in ``add``.

        Raises:
            LimitReached: it is above a limit of its credential; nothing was changed.
            StoreUnavailable: whether it was done may be unknown.
        """
        return await self._writer.write(Claim(payout, attempt, limited, before)) is True

    async def release(self, payout: Payout, event: AuditEvent, by: str) -> bool:
        """
        End the hold of a payout now, and record it; False if it is held no more, or was released.

        A claim for a status query is lost, and with it the plan of the next query.
        """
        async with self._database.writing() as connection:
            if not (await connection.execute(_releasing(payout, event.at))).rowcount:
                return False
            await append_event(self._database, connection, released(payout, by, event.at))
            await audit_log.append(connection, event)
        return True

    async def refuse(self, change: Change, event: AuditEvent) -> bool:
        """Take the step that refuses a held payout, and record it; False if it is held no more."""
        async with self._database.writing() as connection:
            if not await record_step(self._database, connection, change):
                return False
            await audit_log.append(connection, event)
        return True

    async def has_paid(self, payout: Payout, first: FirstPayee) -> bool:
        """Return whether the payee of a payout is known; see ``first_payees.has_paid``."""
        return await first_payees.has_paid(self._database, payout, first)

    async def record(self, change: Change) -> bool:
        """
        Do a step by compare-and-set; False when the payout was in another state or attempt.

        An attempt that is proven unsent keeps that outcome, with any outcome of the payout.

        Raises:
            ValueError: ``after`` may not follow each of ``before``, or it is SENDING, to which
                only ``claim`` leads. A mistake in our code.
            StoreUnavailable: whether it was done may be unknown.
        """
        check(change)
        return await self._writer.write(change) is True

    async def close(self) -> None:
        """Finish pending writes; afterwards only lists and attempts can be read."""
        for each in (self._writer, self._lookups):
            await each.close()

    async def find(self, account_id: str, reference: str) -> Payout | None:
        """
        Return a payout as it is after this call began.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        with failures_as_ours():
            key = account_id, reference_digest(reference)
            rows, _ = await self._lookups.ask(_Lookup(key))
        return restored_payout(rows[0]) if rows else None

    async def precedents(
        self, account_id: str, request: PayoutRequest, since: datetime | None
    ) -> Precedents:
        """
        Return the earlier payouts that concern a new payout.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        with failures_as_ours():
            named, alike = await self._lookups.ask(_lookup_before(account_id, request, since))
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
            _, alike = await self._lookups.ask(_Lookup(query=_query(key, payout, since)))
        return [row.reference for row in alike]

    async def similar_around(
        self, payout: Payout, within: timedelta, most: int
    ) -> Sequence[Payout]:
        """Return similar payouts created shortly before or after it, the oldest ``most``."""
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
            lists = _LISTED_STANDING if states else _LISTED
            listed = lists.of(search, self._database.now())
            rows, total = await _found(listed, asked, connection)
        return [listed_payout(row) for row in rows], total

    async def whole(self, account_id: str, search: Search) -> tuple[Sequence[Payout], int]:
        """
        Return the page of ``search`` with all stored columns.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        async with self._reading_lists() as connection:
            listed = _WHOLE.of(search, self._database.now())
            rows, total = await _found(listed, _asked(account_id, search), connection)
        return [restored_payout(row) for row in rows], total

    async def attempts(self, account_id: str, reference: str) -> Sequence[Attempt]:
        """Return every attempt of a payout, oldest first."""
        rows = await self._database.rows(_ATTEMPTS, key_columns(account_id, reference))
        return [restored_attempt(row) for row in rows]

    async def behind(
        self, account_id: str, e2e_ids: Collection[str], provider_keys: Collection[str]
    ) -> Sequence[Payout]:
        """Return an account's payouts with one of these end-to-end ids or keys of its bank."""
        ids = [each for each in e2e_ids if each]
        keys = [each for each in provider_keys if each]
        if not ids and not keys:
            return []
        # Either part leads to an index of its own; most payouts of an account are of neither.
        by_name = select(bank_names.c.provider_key).where(bank_names.c.name.in_(ids))
        by_key = select(_KEYED.c.provider_key).where(_KEYED.c.provider_key.in_(keys))
        either = payouts.c.provider_key.in_(select(union_all(by_name, by_key).subquery()))
        named = or_(payouts.c.e2e_id.in_(ids), payouts.c.provider_key.in_(keys))
        wanted = select(payouts).where(either, named, payouts.c.account_id == account_id)
        return [restored_payout(row) for row in await self._database.rows(wanted)]

    async def events(self, account_id: str, reference: str) -> Sequence[PayoutEvent]:
        """Return the events of a payout, oldest first."""
        rows = await self._database.rows(_EVENTS, key_columns(account_id, reference))
        return [restored_event(row, reference, self._database.facts) for row in rows]

    async def forget_events(self, before: datetime) -> int:
        """
        Delete events before an instant; return how many, or how many weeks on PostgreSQL.

        Those younger than thirty days by the database's own clock stay.
        """
        if self._database.writer.dialect.name == "postgresql":
            return await EVENTS.renew(self._database, before)
        deleted = last = 0
        while True:
            async with self._database.writing() as connection:
                rows = (await connection.execute(_OLDEST, {"after_number": last})).all()
                if not any(row.at < before for row in rows):
                    return deleted
                first, last = rows[0].number, rows[-1].number
                old = delete(payout_events).where(
                    payout_events.c.number.between(first, last), payout_events.c.at < before
                )
                deleted += (await connection.execute(old)).rowcount

    async def returns(self, account_id: str, reference: str) -> Sequence[PixReturn]:
        """Return the returns of a payout, oldest first."""
        rows = await self._database.rows(_RETURNS, key_columns(account_id, reference))
        return [PixReturn(id=row.id, value=Money(row.centavos), at=row.at) for row in rows]

    async def note_returns(self, payout: Payout, found: Sequence[PixReturn]) -> int:
        """Store returns with new ids and their events, in one transaction; return how many."""
        key = key_columns(payout.account_id, payout.reference)
        known = {each.id for each in await self.returns(payout.account_id, payout.reference)}
        new = [each for each in found if each.id not in known][: MOST - len(known)]
        if not new:
            return 0
        told: list[Event] = []
        async with self._database.writing() as connection:
            for each in new:
                row = {**key, "id": each.id, "centavos": each.value.centavos, "at": each.at}
                if await self._database.add(connection, returns, row):
                    told.append(self._returned(payout, each))
            if told:
                await account_events.append(connection, *told)
        return len(told)

    def _returned(self, payout: Payout, found: PixReturn) -> Event:
        return Event(
            id=self._new_event_id(),
            account_id=payout.account_id,
            type=EventType.PAYOUT_RETURNED,
            at=self._database.now(),
            reference=payout.reference,
            return_id=found.id,
        )

    async def opinions(self, account_id: str, reference: str) -> Sequence[Opinion]:
        """Return the opinions on a payout, oldest first."""
        async with self._database.reading() as connection:
            return await _opinions(connection, account_id, reference)

    async def add_opinion(self, opinion: Opinion, event: AuditEvent) -> Sequence[Opinion]:
        """
        Store an opinion and return all on this payout, oldest first.

        A person has one opinion in a review: a second one there changes nothing. In a later
        review, of another attempt or state, it takes the place of the earlier one.
        """
        row = _opinion_key(opinion) | opinion_columns(opinion)
        async with self._database.writing() as connection:
            is_new = await self._database.add(connection, opinions, row)
            if is_new or (await connection.execute(_replacing(opinion))).rowcount:
                await append_event(self._database, connection, judged(opinion))
                await audit_log.append(connection, event)
            return await _opinions(connection, opinion.account_id, opinion.reference)

    async def withdraw_opinion(self, opinion: Opinion, event: AuditEvent) -> bool:
        """Withdraw an opinion and record it; False if it, or the review, has ended."""
        async with self._database.writing() as connection:
            if not await _hold(connection, opinion.account_id, opinion.reference):
                return False
            if not (await connection.execute(_withdrawing(opinion))).rowcount:
                return False
            await append_event(self._database, connection, opinion_withdrawn(opinion, event.at))
            await audit_log.append(connection, event)
        return True

    async def decide(self, change: Change, by: Sequence[Opinion], event: AuditEvent) -> bool:
        """Take the step that ends a review, and record it; False if it or an opinion ended."""
        async with self._database.writing() as connection:
            await _hold(connection, change.account_id, change.reference)
            given = await _opinions(connection, change.account_id, change.reference)
            if not all(each in given for each in by):
                return False
            if not await record_step(self._database, connection, change):
                return False
            await audit_log.append(connection, event)
        return True

    @asynccontextmanager
    async def _reading_lists(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection for reading, in order of request."""
        with failures_as_ours():
            async with asyncio.timeout(self._database.checkout_s):
                await self._turns.acquire()
        try:
            async with self._database.reading() as connection:
                yield connection
        finally:
            self._turns.release()

    async def _look_up(self, lookups: Sequence[_Lookup]) -> Sequence[tuple[Rows, Rows]]:
        """Run all queries together; if one cannot be sent to the database, each alone."""
        keys = list(dict.fromkeys(each.key for each in lookups if each.key is not None))
        queries = [each.query for each in lookups if each.query is not None]
        async with self._database.reading_at_once() as execution:
            with faults_of_rows(of=len(lookups)):
                found = await self._rows_of(execution, keys)
                alike = await self._rows_like(execution, queries)
        return [
            (
                found.get(each.key, ()) if each.key is not None else (),
                each.query.own(alike) if each.query is not None else (),
            )
            for each in lookups
        ]

    async def _rows_of(self, execution: Execution, keys: Sequence[Key]) -> Mapping[Key, Rows]:
        if not keys:
            return {}
        rows = await execution.execute(by_keys(self._database.each_of), bound("keys", keys))
        return {(row.account_id, row.reference_sha256): [row] for row in rows.all()}

    async def _rows_like(
        self, execution: Execution, queries: Sequence[_Query]
    ) -> Mapping[Content, Rows]:
        """Return the rows whose content matches one of these, oldest first."""
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
    """Read a page and the length of its list; the first page by one statement."""
    if not asked["offset"]:
        rows = (await connection.execute(listed.first, asked)).all()
        return rows, rows[0].total if rows else 0
    total = (await connection.execute(listed.length, asked)).scalar_one()
    # Past the end a database would walk the whole window to find nothing.
    if asked["offset"] >= total:
        return [], total
    return (await connection.execute(listed.page, asked)).all(), total


def _asked(account_id: str, search: Search) -> dict[str, Any]:
    window, paging = search.window, search.paging
    return {
        "account_id": account_id,
        "start": window.start,
        "end": window.end,
        "limit": paging.limit,
        "offset": paging.offset,
    }


def _opinion_key(opinion: Opinion) -> dict[str, object]:
    return key_columns(opinion.account_id, opinion.reference) | {"by": opinion.by}


def _replacing(opinion: Opinion) -> Update:
    """Replace this user's opinion of an earlier review."""
    return (
        update(opinions)
        .where(_all_equal(_opinion_key(opinion)))
        .where(
            or_(
                opinions.c.attempt != opinion.attempt,
                opinions.c.state.is_distinct_from(opinion.state and opinion.state.value),
            )
        )
        .values(opinion_columns(opinion))
    )


def _withdrawing(opinion: Opinion) -> Update:
    """Remove an opinion from its review, if it is unchanged."""
    return (
        update(opinions)
        .where(_all_equal(_opinion_key(opinion) | opinion_columns(opinion)))
        .values(opinion_columns(opinion.withdrawn()))
    )


async def _hold(connection: AsyncConnection, account_id: str, reference: str) -> bool:
    """Lock a payout, so that no opinion is withdrawn beside a decision; return if in review."""
    key = key_columns(account_id, reference)
    wanted = select(payouts.c.review).where(*(payouts.c[name] == key[name] for name in key))
    return bool((await connection.execute(wanted.with_for_update())).scalar())


def _releasing(payout: Payout, at: datetime) -> Update:
    key = key_columns(payout.account_id, payout.reference)
    return (
        update(payouts)
        .where(*(payouts.c[name] == value for name, value in key.items()))
        .where(payouts.c.state == PayoutState.HELD.value, payouts.c.held_until > at)
        .values(held_until=at, next_check_at=at, updated_at=at, check_owner=None, check_until=None)
    )


def _all_equal(columns: Mapping[str, object]) -> ColumnElement[bool]:
    return and_(*(opinions.c[name] == value for name, value in columns.items()))


async def _opinions(
    connection: AsyncConnection, account_id: str, reference: str
) -> Sequence[Opinion]:
    wanted = (
        select(opinions)
        .where(_all_equal(key_columns(account_id, reference)))
        .order_by(opinions.c.at, opinions.c.by)
    )
    return [restored_opinion(row, reference) for row in (await connection.execute(wanted)).all()]


_SEALED_AS: Final = "payout events"
"""What the key is derived for: so many rows are sealed under it that nothing else should be."""


class EventSealing:
    """Encrypts facts with a key of their own; undecryptable facts are not shown."""

    def __init__(self, derivation: Derivation) -> None:
        """Derive the key from every sealing key; retired keys still decrypt."""
        derived = derivation.keys(_SEALED_AS)
        self._sealer = Sealer(derived, next(iter(derived)))

    def seal(self, content: bytes, bound_to: str) -> bytes | None:
        """Seal for a row."""
        return self._sealer.seal_bytes(content, bound_to)

    def open(self, sealed: bytes, bound_to: str) -> bytes | None:
        """Decrypt a row's facts; None if absent or the key is gone."""
        try:
            return self._sealer.open_bytes(sealed, bound_to)
        except SealBroken:
            return None
