"""
SQLite's driver with one trip to its thread for each statement.

What a trip costs is more than most statements: the thread is woken, and the interpreter handed over
twice. SQLAlchemy's adapter makes one trip for the cursor, one for the statement, one for the rows,
one to close, and one to undo what was never begun.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final, TypeVar, cast

import aiosqlite
from sqlalchemy import Dialect
from sqlalchemy.connectors.asyncio import AsyncAdapt_dbapi_cursor
from sqlalchemy.dialects.sqlite.aiosqlite import (
    AsyncAdapt_aiosqlite_connection,
    AsyncAdapt_aiosqlite_cursor,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from gateway.store.kernel.hot_statements import Outcome, Run, Statement

# A transaction that becomes a writer later can meet a lock that waiting does not resolve.
BEGIN: Final = "BEGIN IMMEDIATE"
"""Takes the lock at once."""


def connect(
    dialect: Dialect,
    _entry: ConnectionPoolEntry,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> DBAPIConnection:
    """Open a connection for a pool; for SQLAlchemy's event ``do_connect``."""
    opened = dialect.loaded_dbapi.connect(*arguments, **options)
    return cast("DBAPIConnection", OneTripConnection(opened.dbapi, opened.driver_connection))


Done = TypeVar("Done")
Work = Callable[[Run], Coroutine[Any, Any, Done]]
"""Does statements one after another, and waits for nothing else."""

InThread = Callable[[Callable[[], Any]], Awaitable[Any]]
_NOTHING: Final = Outcome(None, [], -1, None)


class _Cursor(AsyncAdapt_aiosqlite_cursor):
    """Keeps what a statement found; the driver's own cursor is closed when it is used."""

    __slots__ = ("_adapter", "_outcome", "arraysize")

    _awaitable_cursor_close = False

    def __init__(self, adapter: OneTripConnection) -> None:
        # Not the adapter's own: that makes a trip for a cursor of the driver.
        self._adapter = adapter
        self._adapt_connection = adapter
        self._rows = deque()
        self._outcome = _NOTHING
        self.arraysize = 1

    def close(self) -> None:
        """Let go of the rows."""
        self._rows.clear()

    @property
    def description(self) -> Any:  # noqa: ANN401 - the driver's
        """The names of the columns, None where there are no rows."""
        return self._outcome.description

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        return self._outcome.rowcount

    @property
    def lastrowid(self) -> int:
        """The number of the last row that was inserted."""
        return self._outcome.lastrowid or 0

    async def _execute_async(self, operation: Any, parameters: Any) -> None:  # noqa: ANN401 - SQLAlchemy's
        await self._run(Statement(operation, parameters or ()))

    async def _executemany_async(self, operation: Any, seq_of_parameters: Any) -> None:  # noqa: ANN401 - SQLAlchemy's
        await self._run(Statement(operation, seq_of_parameters, is_for_many=True))

    async def _run(self, statement: Statement) -> None:
        self._outcome = await self._adapter.run(statement)
        self._rows = deque(self._outcome.rows)


class OneTripConnection(AsyncAdapt_aiosqlite_connection):
    """A connection whose transactions begin with their first statement, in the same trip."""

    __slots__ = ("_begins", "_driver", "_is_interrupted")

    def __init__(self, dbapi: Any, driver: aiosqlite.Connection) -> None:  # noqa: ANN401 - SQLAlchemy's
        """Wrap a connection of the driver."""
        super().__init__(dbapi, cast("Any", driver))
        self._driver = driver
        self._begins = False
        self._is_interrupted = False

    def cursor(self, server_side: bool = False) -> AsyncAdapt_dbapi_cursor:  # noqa: FBT001, FBT002 - SQLAlchemy's
        """Return a cursor; nothing is asked of the thread for it."""
        return super().cursor(server_side) if server_side else _Cursor(self)

    def begin(self) -> None:
        """Begin a transaction with the next statement: it locks the file before it reads."""
        self._begins = True

    def rollback(self) -> None:
        """Undo the transaction; without one there is nothing to do."""
        self._begins = False
        if self._may_be_in_transaction():
            super().rollback()
            self._is_interrupted = False

    def commit(self) -> None:
        """Commit the transaction; one without a statement has not begun."""
        self._begins = False
        if self._may_be_in_transaction():
            super().commit()

    async def run(self, statement: Statement) -> Outcome:
        """Do a statement and have its rows; raises what the driver does."""
        return await self._tracked(lambda begins: self.do(statement, begins=begins))

    async def run_together(self, work: Work[Done]) -> Done:
        """Do all statements of a piece of work in one trip; raises what it raises."""
        return await self._tracked(lambda _: self.do_together(work))

    async def run_transaction(self, work: Work[Done]) -> Done:
        """
        Do all statements of a piece of work in one transaction, in one trip; raises what it raises.

        Nothing of it is done then, unless it was its commit that failed: that may be done.
        """
        return await self._tracked(lambda _: self.do_transaction(work))

    async def do(self, statement: Statement, *, begins: bool) -> Outcome:
        """Make the trip of a statement."""
        return await self._in_thread(partial(_do, self._raw, statement, begins))

    async def do_together(self, work: Work[Done]) -> Done:
        """Make the trip of a piece of work."""
        return await self._in_thread(partial(_do_together, self._raw, work))

    async def do_transaction(self, work: Work[Done]) -> Done:
        """Make the trip of a transaction; one that fails is undone when the connection is back."""
        return await self._in_thread(partial(_do_transaction, self._raw, work))

    async def _tracked(self, trip: Callable[[bool], Awaitable[Done]]) -> Done:
        """Make a trip, and know afterwards whether there may be a transaction."""
        begins, self._begins = self._begins, False
        async with self._execute_mutex:
            interrupted, self._is_interrupted = self._is_interrupted, True
            try:
                done = await trip(begins)
            except Exception:
                self._is_interrupted = interrupted
                # One that could not begin must not do without a transaction what comes next.
                self._begins = begins and not self.is_in_transaction()
                raise
            # Whoever is cancelled leaves the thread at work: what it does then is not known here.
            self._is_interrupted = interrupted
            return done

    @property
    def _raw(self) -> sqlite3.Connection:
        return self._driver._conn  # noqa: SLF001 - no public way to what the thread works with

    async def _in_thread(self, trip: Callable[[], Done]) -> Done:
        in_thread: InThread = self._driver._execute  # noqa: SLF001 - no public way to run a function in the driver's thread
        return cast("Done", await in_thread(trip))

    def _may_be_in_transaction(self) -> bool:
        return self._is_interrupted or self.is_in_transaction()

    def is_in_transaction(self) -> bool:
        """Say whether a transaction is open, as far as this thread sees."""
        is_open = self._driver._connection is not None  # noqa: SLF001 - SQLAlchemy looks at it, too
        return is_open and self._driver.in_transaction


def _do_transaction(connection: sqlite3.Connection, work: Work[Done]) -> Done:
    connection.execute(BEGIN).close()
    done = _do_together(connection, work)
    commit(connection)
    return done


def commit(connection: sqlite3.Connection) -> None:
    """Commit a transaction that is one trip: whatever is raised from here on, it may be done."""
    connection.commit()


def _do_together(connection: sqlite3.Connection, work: Work[Done]) -> Done:
    async def run(statement: Statement) -> Outcome:
        return _do(connection, statement, False)  # noqa: FBT003 - it has begun, or stands alone

    doing = work(run)
    try:
        doing.send(None)
    except StopIteration as end:
        return cast("Done", end.value)
    doing.close()
    problem = "what is done in one trip waits for nothing but its statements"
    raise RuntimeError(problem)


def _do(connection: sqlite3.Connection, statement: Statement, begins: bool) -> Outcome:  # noqa: FBT001 - what a trip takes with it
    cursor = connection.cursor()
    try:
        if begins:
            cursor.execute(BEGIN)
        execute = cursor.executemany if statement.is_for_many else cursor.execute
        execute(statement.text, statement.parameters)
        rows = cursor.fetchall() if cursor.description else []
        return Outcome(cursor.description, rows, cursor.rowcount, cursor.lastrowid)
    finally:
        cursor.close()
