"""One trip to the driver's thread for each statement, and no transaction left open by it."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import aiosqlite
import pytest
from sqlalchemy import column, insert, literal, select, table, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.store.kernel.address import address
from gateway.store.kernel.database import Database, Limits
from gateway.store.kernel.hot_statements import Execution
from gateway.store.kernel.sqlite import open_file

_LIMITS = Limits(busy_s=0.05)
_ADD, _ABSENT = insert(table("things", column("name"))), insert(table("absent", column("name")))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = open_file(address(f"sqlite:///{tmp_path}/store.db"), _LIMITS)
    async with opened.writing() as connection:
        await connection.execute(text("CREATE TABLE things (name TEXT)"))
    yield opened
    await opened.close()


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the driver's threads were asked for since."""
    asked: list[object] = []
    ask = aiosqlite.Connection._execute

    async def noted(
        self: aiosqlite.Connection, work: object, *more: object, **named: object
    ) -> object:
        asked.append(work)
        return await ask(self, work, *more, **named)

    monkeypatch.setattr(aiosqlite.Connection, "_execute", noted)
    return asked


async def add(connection: AsyncConnection, name: str) -> None:
    await connection.execute(text("INSERT INTO things VALUES (:name)"), {"name": name})


async def names(database: Database) -> list[str]:
    async with database.reading() as connection:
        return list((await connection.execute(text("SELECT name FROM things"))).scalars())


async def test_a_read_is_one_trip(database: Database, trips: list[object]) -> None:
    await names(database)
    trips.clear()

    await names(database)

    assert len(trips) == 1


async def test_a_write_is_a_trip_for_each_statement_and_one_for_the_commit(
    database: Database, trips: list[object]
) -> None:
    """The beginning goes with the first statement."""
    trips.clear()

    async with database.writing() as connection:
        await add(connection, "a")
        await add(connection, "b")

    assert len(trips) == 3
    assert await names(database) == ["a", "b"]


async def test_what_fails_undoes_all_of_its_transaction(database: Database) -> None:
    with pytest.raises(StoreUnavailable):
        await _fail(database)

    async with database.writing() as connection:
        await add(connection, "b")

    assert await names(database) == ["b"]


async def test_one_that_could_not_begin_begins_with_the_next_statement(
    database: Database, tmp_path: Path
) -> None:
    """Whoever goes on after a failure is still in a transaction, and can be undone."""
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable):
            await _fail(database, behind=other)

    assert await names(database) == []


async def test_a_statement_that_was_cancelled_leaves_nothing_open(database: Database) -> None:
    """The thread goes on with what its caller gave up; the next one finds the file free."""
    async with database.writing() as connection:
        held, go = threading.Event(), threading.Event()
        raw = (await connection.get_raw_connection()).driver_connection
        await raw.create_function("hold", 0, lambda: (held.set(), go.wait(), 1)[-1])
    write = asyncio.create_task(_hold(database))
    await asyncio.to_thread(held.wait)

    write.cancel()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await write
    async with database.writing() as connection:
        await add(connection, "b")

    assert await names(database) == ["b"]


async def _fail(database: Database, behind: sqlite3.Connection | None = None) -> None:
    """Write, and then what cannot be; behind another's lock, go on after the first failure."""
    async with database.writing() as connection:
        if behind is not None:
            with pytest.raises(OperationalError):
                await add(connection, "a")
            behind.execute("ROLLBACK")
        await add(connection, "b")
        await connection.execute(text("INSERT INTO absent VALUES (1)"))


async def _hold(database: Database) -> None:
    async with database.writing() as connection:
        await add(connection, "a")
        await connection.execute(text("INSERT INTO things SELECT hold()"))


async def test_a_transaction_without_a_statement_is_no_trip(
    database: Database, trips: list[object]
) -> None:
    trips.clear()

    async with database.writing():
        pass

    assert trips == []


async def test_what_a_statement_found_is_all_there(database: Database) -> None:
    async with database.writing() as connection:
        await connection.execute(
            text("INSERT INTO things VALUES (:name)"), [{"name": "a"}, {"name": "b"}]
        )
        changed = await connection.execute(text("UPDATE things SET name = name || 'x'"))
        returned = await connection.execute(text("DELETE FROM things RETURNING name"))

        assert changed.rowcount == 2
        assert returned.scalars().all() == ["ax", "bx"]
        assert (await connection.execute(select(literal(1)))).scalar_one() == 1


async def _add_together(execution: Execution) -> None:
    await execution.execute(_ADD, [{"name": "a"}, {"name": "b"}])
    await execution.execute(_ADD, {"name": "c"})


async def test_statements_together_are_one_trip_with_their_beginning_and_commit(
    database: Database, trips: list[object]
) -> None:
    trips.clear()

    await database.write_together(_add_together)

    assert len(trips) == 1
    assert await names(database) == ["a", "b", "c"]


async def test_one_of_several_that_fails_undoes_all(database: Database) -> None:
    async def fail(execution: Execution) -> None:
        await _add_together(execution)
        await execution.execute(_ABSENT, {"name": "d"})

    with pytest.raises(StoreUnavailable):
        await database.write_together(fail)
    async with database.writing() as connection:
        await add(connection, "e")

    assert await names(database) == ["e"]


async def test_several_that_wait_for_something_else_are_refused(database: Database) -> None:
    """The thread would stand still, and with it the only writer."""
    something = asyncio.get_running_loop().create_future()

    async def wait(execution: Execution) -> None:
        await _add_together(execution)
        await something

    with pytest.raises(RuntimeError, match="waits for nothing"):
        await database.write_together(wait)

    assert await names(database) == []


async def test_several_that_could_not_begin_do_nothing_without_a_transaction(
    database: Database, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable):
            await database.write_together(_add_together)

    assert await names(database) == []


async def test_several_that_were_cancelled_are_whole_and_waited_for(
    database: Database,
) -> None:
    """The driver's thread cannot be told to stop; nobody else uses the connection meanwhile."""
    held, go = threading.Event(), threading.Event()

    async def hold(execution: Execution) -> None:
        await _add_together(execution)
        held.set()
        go.wait()

    write = asyncio.create_task(database.write_together(hold))
    await asyncio.to_thread(held.wait)

    write.cancel()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await write
    async with database.writing() as connection:
        await add(connection, "d")

    assert await names(database) == ["a", "b", "c", "d"]
