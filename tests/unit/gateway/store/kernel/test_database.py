"""One place where a driver's failure becomes ours."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest
from asyncpg.exceptions import (
    DeadlockDetectedError,
    InvalidSQLStatementNameError,
    InvalidTextRepresentationError,
    PostgresError,
    ProtocolViolationError,
    RaiseError,
    TooManyConnectionsError,
    UniqueViolationError,
)
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    OperationalError,
    StatementError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from gateway.app.store import Store
from gateway.core.storage import AlreadyExists, StoreUnavailable
from gateway.store.kernel.batching import Undone, faults_of_rows
from gateway.store.kernel.database import Database, failures_as_ours
from tests.world.store import open_store
from tests.world.waiting import forever


class Told(Exception):
    """What a driver raises, with the state of the SQL standard."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__("Failing row contains (52998224725)")
        self.sqlstate = sqlstate


def of_driver(kind: type[DBAPIError], origin: BaseException) -> DBAPIError:
    return kind("INSERT", None, origin)


def test_a_store_failure_is_reported_by_its_type_only() -> None:
    """The driver's message is dropped where it may quote the row."""
    cases = [
        (ConnectionRefusedError("10.0.0.1"), "ConnectionRefusedError", False),
        (TimeoutError(), "TimeoutError", False),
        (PoolTimeout("QueuePool"), "TimeoutError", False),
        (sqlite3.OperationalError("database is locked"), "OperationalError", False),
        (of_driver(OperationalError, sqlite3.OperationalError("x")), "OperationalError", False),
        (of_driver(DBAPIError, Told("57014")), "Told 57014", False),
        (of_driver(DBAPIError, Told("22021")), "Told 22021", True),
        (of_driver(DBAPIError, Told("23514")), "Told 23514", True),
        (of_driver(IntegrityError, sqlite3.IntegrityError("x")), "IntegrityError", True),
        (of_driver(DataError, sqlite3.DataError("x")), "DataError", True),
        (UnicodeEncodeError("utf-8", "52998224725", 0, 1, "x"), "UnicodeEncodeError", True),
        (OverflowError("99999999999999999999"), "OverflowError", True),
    ]

    for problem, reason, quotes in cases:
        with pytest.raises(StoreUnavailable) as caught, failures_as_ours():
            raise problem

        assert str(caught.value) == reason
        assert (caught.value.__cause__ is None) == quotes
        assert caught.value.__suppress_context__


def of_server(kind: type[PostgresError], message: str, detail: str = "") -> DBAPIError:
    said = kind.new({"S": "ERROR", "C": kind.sqlstate, "M": message, "D": detail})
    wrapped = Told(kind.sqlstate)
    wrapped.__cause__ = said
    return DBAPIError("SELECT", None, wrapped)


UNNAMED = 'prepared statement "__asyncpg_stmt_5__" does not exist'


def test_a_server_s_message_is_reported_unless_it_may_quote_a_row():
    """Operators need it: the error state alone says little, especially behind a pooler."""
    cases = [
        (
            of_server(InvalidSQLStatementNameError, UNNAMED),
            (
                f"InvalidSQLStatementNameError 26000: {UNNAMED}"
                "; behind a pooler of transactions set database.pooler: transaction"
            ),
        ),
        (
            of_server(ProtocolViolationError, "unsupported startup parameter: statement_timeout"),
            "ProtocolViolationError 08P01: unsupported startup parameter: statement_timeout",
        ),
        (
            of_server(DeadlockDetectedError, "deadlock detected", "Process 1 holds 52998224725"),
            "DeadlockDetectedError 40P01: deadlock detected",
        ),
        (
            of_server(TooManyConnectionsError, "x\ny" + "z" * 500),
            "TooManyConnectionsError 53300: x y" + "z" * 197,
        ),
        (
            of_server(InvalidTextRepresentationError, 'invalid input syntax: "52998224725"'),
            "InvalidTextRepresentationError 22P02",
        ),
        (of_server(UniqueViolationError, "52998224725 is there"), "UniqueViolationError 23505"),
        (of_server(RaiseError, "52998224725 must stay"), "RaiseError P0001"),
    ]

    for problem, reason in cases:
        with pytest.raises(StoreUnavailable) as caught, failures_as_ours():
            raise problem

        assert str(caught.value) == reason


def test_other_errors_pass_unchanged() -> None:
    cases = [asyncio.CancelledError, AlreadyExists, ValueError, KeyError]

    for passing in cases:
        with pytest.raises(passing), failures_as_ours():
            raise passing


def test_an_error_of_one_row_rolls_the_transaction_back() -> None:
    """Each of its rows may then be tried alone; the message does not quote the row."""
    cases = [
        TimeoutError(),
        UnicodeEncodeError("utf-8", "52998224725", 0, 1, "x"),
        OverflowError("99999999999999999999"),
        StatementError("no zone", "INSERT", None, ValueError()),
        of_driver(IntegrityError, sqlite3.IntegrityError("x")),
        of_driver(DBAPIError, Told("23505")),
        of_driver(DBAPIError, Told("22021")),
        of_driver(DBAPIError, Told("40P01")),
        of_driver(DBAPIError, Told("40001")),
        of_driver(DBAPIError, Told("55P03")),
        of_driver(DBAPIError, Told("57014")),
    ]

    for problem in cases:
        with pytest.raises(Undone) as caught, faults_of_rows(of=2):
            raise problem

        assert caught.value.__suppress_context__


def test_a_single_failed_row_is_reported_as_it_is() -> None:
    """It can only be this row, and its reason is reported."""
    problem = "no zone"
    with pytest.raises(StatementError), faults_of_rows(of=1):
        raise StatementError(problem, "INSERT", None, ValueError())


def test_an_error_not_about_a_row_is_not_retried_row_by_row() -> None:
    """An unreachable store would be asked once per row."""
    cases = [
        ConnectionResetError(),
        PoolTimeout("QueuePool"),
        sqlite3.OperationalError("disk I/O error"),
        of_driver(OperationalError, sqlite3.OperationalError("database is locked")),
        of_driver(DBAPIError, Told("57P01")),
        of_driver(DBAPIError, Told("53300")),
        of_driver(DBAPIError, Told("08006")),
        KeyError("a mistake of ours"),
    ]

    for problem in cases:
        with pytest.raises(type(problem)), faults_of_rows(of=2):
            raise problem


@pytest.mark.parametrize(("commits", "seen"), [(False, Undone), (True, TimeoutError)])
def test_an_abandoned_statement_is_undone_only_in_a_transaction(
    commits: bool, seen: type[Exception]
) -> None:
    """A statement that commits by itself may be done already, and would be repeated."""
    with pytest.raises(seen), faults_of_rows(of=2, commits=commits):
        raise TimeoutError


def test_a_statement_the_server_refuses_is_always_undone() -> None:
    with pytest.raises(Undone), faults_of_rows(of=2, commits=True):
        raise of_driver(DBAPIError, Told("57014"))


async def test_a_reader_cannot_write(store: Store) -> None:
    async def write() -> None:
        async with store.database.reading() as connection:
            await connection.exec_driver_sql("UPDATE companies SET name = 'changed'")

    with pytest.raises(StoreUnavailable):
        await write()


@pytest.mark.parametrize("work", [Database.reading, Database.writing])
async def test_a_unit_of_work_has_a_time_limit(
    url: str, work: Callable[[Database], AbstractAsyncContextManager[object]]
) -> None:
    """Whatever takes so long."""
    opened = open_store(url)
    hasty = replace(opened.database, whole_s=0.05)

    async def dawdle() -> None:
        async with work(hasty):
            await forever()

    with pytest.raises(StoreUnavailable, match="TimeoutError"):
        await dawdle()

    await opened.check()
    await opened.close()


async def test_an_exception_rolls_back_the_work(store: Store) -> None:
    async def write() -> None:
        async with store.database.writing() as connection:
            await connection.exec_driver_sql("UPDATE accounts SET name = 'half done'")
            raise KeyError

    with pytest.raises(KeyError):
        await write()

    assert [each.name for each in await store.accounts.list()] != ["half done"]
