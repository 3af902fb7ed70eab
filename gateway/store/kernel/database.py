"""A database: units of work, usage, and conversion of failures."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy import ColumnElement, CursorResult, Executable, Insert, Select, Table, func, select
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio.engine import AsyncConnection, AsyncEngine

from gateway.core.change_feed import Act
from gateway.core.clocks import Monotonic, Now
from gateway.core.storage import StoreUnavailable, WritesRefused
from gateway.core.windows import Listed, Paging
from gateway.net.common.runtime import utc_now
from gateway.store.kernel.chain import NO_KEYS, ChainKeys
from gateway.store.kernel.prepared import Among, BulkParameters, EachOf, Execution
from gateway.store.tables.columns import Record

Item = TypeVar("Item")


async def page(
    database: Database,
    wanted: Select[*tuple[Any, ...]],
    paging: Paging,
    read: Callable[[Record], Item],
    count_at_most: int | None = None,
) -> Listed[Item]:
    """
    Return one page of an ordered selection, its rows ``read``.

    With ``count_at_most`` the count ends there: a long list is not walked to be counted.
    """
    counted = wanted.order_by(None).limit(count_at_most).subquery()
    count = select(func.count()).select_from(counted)
    shown = wanted.limit(paging.limit).offset(paging.offset)
    if not paging.offset:  # both by one statement
        together = shown.add_columns(count.scalar_subquery().label("rows_in_all"))
        rows = await database.rows(together)
        total = rows[0].rows_in_all if rows else 0
    else:
        async with database.reading() as connection:
            total = (await connection.execute(count)).scalar_one()
            # Past the end a database would walk the whole list to find nothing.
            is_past = paging.offset >= total and total != count_at_most
            rows = () if is_past else (await connection.execute(shown)).all()
    return Listed(items=[read(row) for row in rows], paging=paging, total=total)


OnUsage = Callable[[str, float], None]
"""Called after a unit of work: ``read`` or ``write``, and its seconds."""


@dataclass(slots=True)
class Usage:
    """
    Counts the units of work of one process, on its event loop.

    Attributes:
        clock: Returns seconds.
        waiting: Those without a connection yet.
        in_use: Those that have one.
        waited_s: The longest wait for a connection since the last ``take_longest_wait``.
        on_usage: Called after each unit of work, with its kind and seconds.
    """

    clock: Monotonic = time.perf_counter
    waiting: int = 0
    in_use: int = 0
    waited_s: float = 0.0
    on_usage: OnUsage = field(default_factory=lambda: _ignore)

    def take_longest_wait(self) -> float:
        """Return the longest wait for a connection since the last call, in seconds."""
        longest, self.waited_s = self.waited_s, 0.0
        return longest


def _ignore(_work: str, _took_s: float) -> None:
    """Ignore the event: this store has no metrics."""


# The driver's text for these quotes the row, which may hold personal data.
_QUOTING = (
    *(IntegrityError, DataError, UnicodeError, OverflowError),
    *(sqlite3.IntegrityError, sqlite3.DataError),
)
FAILURES = (SQLAlchemyError, sqlite3.Error, OSError, UnicodeError, OverflowError)
# States whose messages name what is the server's or the pooler's, never a value of a row.
_SAYS: Final = (
    *("08", "0A", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58", "XX"),
)
# disk_full, read_only_sql_transaction
_REFUSES: Final = frozenset({"53100", "25006"})
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
_LONGEST: Final = 200
_POOLED: Final = "; behind a pooler of transactions set database.pooler: transaction"
_REMEDIES: Final = {"26000": _POOLED, "42P05": _POOLED}
_ACTS: Final = "pixgate_acts"
_CHAIN: Final = "pixgate_chain"
_OS_USER: Final = "pixgate_os_user"
_LOOKS: Final = 400
_LOOK_AGAIN_S: Final = 0.005
"""Two seconds in all for units under way at the end: a silent server must not hold up a stop."""


Opened = TypeVar("Opened")


class FactSealing(Protocol):
    """Encrypts facts for one row each, and decrypts them."""

    def seal(self, content: bytes, bound_to: str) -> bytes | None:
        """Encrypt facts for a row; None without a key, and nothing is stored."""
        ...

    def open(self, sealed: bytes, bound_to: str) -> bytes | None:
        """Decrypt a row's facts; None if impossible."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    Time limits of the store in seconds, and its maximum of connections.

    Attributes:
        pool_size: Connections of a process to PostgreSQL; readers of SQLite.
        checkout_s: The wait for a free connection.
        connect_s: Opening one to PostgreSQL.
        statement_s: One statement on PostgreSQL, by its clock and by ours.
        busy_s: The wait for another process's lock on an SQLite file.
        whole_s: One unit of work from first to last, with all waits.
    """

    pool_size: int = 10
    checkout_s: float = 2.0
    connect_s: float = 2.0
    statement_s: float = 5.0
    busy_s: float = 5.0
    whole_s: float = 10.0


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """
    Connections to one database.

    Attributes:
        reader: Every statement stands alone, which saves PostgreSQL two round trips.
        insert_new: An INSERT that leaves a row with one of the same keys as it is.
        insert_or_change: An INSERT that changes the row with the same primary key to some values,
            where that row meets a condition.
        among: Condition that two columns are one of the keys given by ``bound`` under a name;
            the same text for any number where a server keeps statements by their text.
        lend: Opens an executor of prepared single statements, each its own
            transaction.
        one_of: Condition that a column is in a list of texts, which is bound under a name when the
            statement is executed; a statement is built with it once.
        each_of: The rows of a SELECT whose columns are one of the rows of values given by
            ``bound``; however much else the SELECT finds, an index that leads to them is used.
        bulk: How a statement takes many rows.
        joins: A statement may include the work of another one, which saves a round trip.
        commits_statements: A statement that writes may stand alone, and is durable when it is
            answered; see ``writing_at_once``.
        writers: Transactions that can write at once, as far as batches go.
        checkout_s: The wait for a turn.
        chain: The keys of the audit log.
        os_user: The user of the operating system whose command writes, kept with each act; empty
            in a process that serves.
        takes_writes: Whether a transaction can write: False on a standby; ``WritesRefused`` where
            there is no room for new pages.
        server_time: The server's clock; None where the store is a file.
        server_load: Number of connections to the server, of all programs, and the most that it
            takes; None where the store is a file.
        facts: Seals the facts of payouts' events; without it they neither store nor show facts.
        now: The clock of the process, for which partitions are made ahead.
        followers: Called with every act that a transaction of this process has recorded, before
            the request for the change is answered.
        usage: Counts units of work and their durations.
    """

    writer: AsyncEngine
    reader: AsyncEngine
    insert_new: Callable[[Table], Insert]
    insert_or_change: Callable[[Table, Mapping[str, object], ColumnElement[bool]], Insert]
    among: Among
    lend: Callable[[], AbstractAsyncContextManager[Execution]]
    one_of: Callable[[ColumnElement[str], str], ColumnElement[bool]]
    each_of: EachOf
    bulk: BulkParameters
    joins: bool
    commits_statements: bool
    writers: int
    checkout_s: float
    whole_s: float
    takes_writes: Callable[[AsyncConnection], Awaitable[bool]]
    server_time: Callable[[AsyncConnection], Awaitable[datetime]] | None = None
    server_load: Callable[[AsyncConnection], Awaitable[tuple[int, int]]] | None = None
    chain: ChainKeys = NO_KEYS
    os_user: str = ""
    facts: FactSealing | None = None
    now: Now = utc_now
    followers: list[Callable[[Act], None]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Yield a connection for reading."""
        return self._unit("read", self.reader.connect())

    def reading_at_once(self) -> AbstractAsyncContextManager[Execution]:
        """Yield an executor of prepared statements that only read."""
        return self._unit("read", self.lend())

    def writing_at_once(self) -> AbstractAsyncContextManager[Execution]:
        """
        Yield an executor of prepared statements, each a transaction of its own.

        For statements without acts, where ``commits_statements``. One that fails without an
        answer of the server's may have been done, as with a commit.
        """
        return self._unit("write", self.lend())

    @asynccontextmanager
    async def _unit(
        self, kind: str, opening: AbstractAsyncContextManager[Opened]
    ) -> AsyncIterator[Opened]:
        """Open a connection for one unit of work, which is counted and limited in time."""
        usage, began, has_one = self.usage, self.usage.clock(), False
        usage.waiting += 1
        try:
            with failures_as_ours():
                async with asyncio.timeout(self.whole_s), opening as opened:
                    usage.waiting -= 1
                    usage.in_use += 1
                    has_one = True
                    usage.waited_s = max(usage.waited_s, usage.clock() - began)
                    yield opened
        finally:
            if has_one:
                usage.in_use -= 1
            else:
                usage.waiting -= 1
            usage.on_usage(kind, usage.clock() - began)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection in a transaction: committed at the end, undone by an exception."""
        acts: list[Act] = []
        try:
            async with self._unit("write", self.writer.begin()) as connection:
                connection.info.update({_ACTS: acts, _CHAIN: self.chain, _OS_USER: self.os_user})
                yield connection
        finally:
            # also of one that failed: nobody can tell whether it was committed
            for act in acts:
                for follower in self.followers:
                    follower(act)

    async def rows(
        self, wanted: Executable, given: Mapping[str, Any] | None = None
    ) -> Sequence[Record]:
        """Return the rows of one statement; ``given`` are the values of its parameters."""
        async with self.reading() as connection:
            return (await connection.execute(wanted, given)).all()

    async def first(
        self, wanted: Executable, given: Mapping[str, Any] | None = None
    ) -> Record | None:
        """Return the first row of one statement; None where it finds none."""
        async with self.reading() as connection:
            return (await connection.execute(wanted, given)).first()

    async def write(
        self,
        statement: Executable,
        given: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> int:
        """Execute one statement in its own transaction; return the number of changed rows."""
        async with self.writing() as connection:
            done: CursorResult[Any] = await connection.execute(statement, given)
            return done.rowcount

    async def add(
        self, connection: AsyncConnection, table: Table, row: Mapping[str, object]
    ) -> bool:
        """Insert a row; False when one of its keys is taken, and nothing was done."""
        done = await connection.execute(
            self.insert_new(table), row, execution_options={"preserve_rowcount": True}
        )
        return done.rowcount == 1

    async def put(
        self,
        connection: AsyncConnection,
        table: Table,
        row: Mapping[str, object],
        changed: Mapping[str, object],
        where: ColumnElement[bool],
    ) -> bool:
        """
        Insert a row, or change the one with its primary key, if it meets a condition.

        Returns:
            False when nothing was done.
        """
        statement = self.insert_or_change(table, changed, where)
        done = await connection.execute(
            statement, row, execution_options={"preserve_rowcount": True}
        )
        return done.rowcount == 1

    async def close(self) -> None:
        """Close every connection, and SQLite's threads; a unit under way has a moment."""
        # One that was cancelled is closing its connection. Cut short in that, SQLite's driver
        # waits for a thread that has ended, and the process never does.
        for _ in range(_LOOKS):
            if not self.usage.waiting and not self.usage.in_use:
                break
            await asyncio.sleep(_LOOK_AGAIN_S)
        await self.writer.dispose()
        if self.reader.sync_engine.pool is not self.writer.sync_engine.pool:
            await self.reader.dispose()


def note(connection: AsyncConnection, act: Act) -> None:
    """Add an act of this transaction; it is announced when the transaction ends."""
    connection.info[_ACTS].append(act)


def chain_of(connection: AsyncConnection) -> ChainKeys:
    """Return the keys of the audit log of a write connection."""
    keys: ChainKeys = connection.info[_CHAIN]
    return keys


def os_user_of(connection: AsyncConnection) -> str:
    """Return the user of the operating system whose command writes; empty while serving."""
    name: str = connection.info[_OS_USER]
    return name


@contextmanager
def failures_as_ours() -> Iterator[None]:
    """
    Convert every exception of driver and SQLAlchemy to ``StoreUnavailable``.

    A caller that is cancelled stays cancelled.
    """
    try:
        yield
    except FAILURES as problem:
        kind = WritesRefused if _refuses_writes(problem) else StoreUnavailable
        said = kind(_reason(problem))
        raise said from (None if quotes_the_row(problem) else problem)


def _refuses_writes(problem: Exception) -> bool:
    """Return whether a failure says that the database is full or read-only."""
    origin = problem.orig if isinstance(problem, DBAPIError) else problem
    if isinstance(origin, sqlite3.OperationalError):
        code = getattr(origin, "sqlite_errorcode", 0) & 0xFF  # without what it says beyond that
        return code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY}
    if isinstance(origin, OSError):
        return origin.errno in _FULL
    return getattr(origin, "sqlstate", None) in _REFUSES


def _reason(problem: Exception) -> str:
    """
    Describe a failure by type and state, and by the server's text if it quotes no row.

    Texts of drivers are not for logs.
    """
    origin = problem.orig if isinstance(problem, DBAPIError) else problem
    state = getattr(origin, "sqlstate", None)
    if state is None:
        return type(origin).__name__
    cause = getattr(origin, "__cause__", None)
    error = cause if hasattr(cause, "sqlstate") else origin
    named = f"{type(error).__name__} {state}"
    # The message alone: detail and hint of any kind may quote.
    said = getattr(error, "message", None)
    if said is None or not state.startswith(_SAYS):
        return named
    line = "".join(each if each.isprintable() else " " for each in said)
    return f"{named}: {line[:_LONGEST]}{_REMEDIES.get(state, '')}"


def quotes_the_row(problem: Exception) -> bool:
    """Return whether the text of a failure may quote a row's values."""
    origin = problem.orig if isinstance(problem, DBAPIError) else problem
    state = str(getattr(origin, "sqlstate", None) or "")
    return isinstance(problem, _QUOTING) or state.startswith(("22", "23"))
