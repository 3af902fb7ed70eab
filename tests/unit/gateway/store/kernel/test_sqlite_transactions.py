"""A transaction on SQLite is whole or undone, and none is left open."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import literal, select, text
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.address import address
from gateway.store.kernel.database import Database, Limits
from gateway.store.kernel.sqlite import open_file
from tests.world.waiting import until

_LIMITS = Limits(busy_s=0.05)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def database(file: Path) -> AsyncIterator[Database]:
    opened = open_file(address(f"sqlite:///{file}"), _LIMITS)
    async with opened.writing() as connection:
        await connection.execute(text("CREATE TABLE things (name TEXT)"))
    yield opened
    await opened.close()


async def add(connection: AsyncConnection, name: str) -> None:
    await connection.execute(text("INSERT INTO things VALUES (:name)"), {"name": name})


async def write(database: Database, *names: str) -> None:
    async with database.writing() as connection:
        for name in names:
            await add(connection, name)


async def names(database: Database) -> list[str]:
    async with database.reading() as connection:
        return list((await connection.execute(text("SELECT name FROM things"))).scalars())


async def test_a_failure_rolls_back_the_whole_transaction(database: Database) -> None:
    async def fail() -> None:
        async with database.writing() as connection:
            await add(connection, "a")
            await connection.execute(text("INSERT INTO absent VALUES (1)"))

    with pytest.raises(StoreUnavailable):
        await fail()
    await write(database, "b")

    assert await names(database) == ["b"]


async def test_a_transaction_that_cannot_begin_writes_nothing(
    database: Database, file: Path
) -> None:
    """Another process holds the lock for longer than the busy timeout."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="OperationalError"):
            await write(database, "a")

    assert await names(database) == []
    await write(database, "b")
    assert await names(database) == ["b"]


async def test_a_cancelled_statement_leaves_no_transaction_open(database: Database) -> None:
    """The driver's thread finishes the statement, and the next transaction is not blocked."""
    held, go = threading.Event(), threading.Event()
    async with database.writing() as connection:
        raw = (await connection.get_raw_connection()).driver_connection
        assert raw is not None
        await raw.create_function("hold", 0, lambda: (held.set(), go.wait(), 1)[-1])

    async def hold() -> None:
        async with database.writing() as connection:
            await add(connection, "a")
            await connection.execute(text("INSERT INTO things SELECT hold()"))

    writing = asyncio.create_task(hold())
    await asyncio.to_thread(held.wait)

    writing.cancel()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await write(database, "b")

    assert await names(database) == ["b"]


async def test_a_write_cancelled_anywhere_is_atomic_and_leaves_no_lock(
    database: Database, file: Path
) -> None:
    """Also when it is cancelled again while returning its connection."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=0)) as other:

        async def is_free() -> bool:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            other.execute("ROLLBACK")
            return True

        for turns, times in product(range(16), (1, 2)):
            writing = asyncio.create_task(write(database, f"{turns} {times}", "second"))
            for _ in range(turns):
                await asyncio.to_thread(int)  # as long as the driver's thread has turns
            for _ in range(times):
                writing.cancel()
                await asyncio.sleep(0)
            await asyncio.wait([writing])

            await until(is_free)

    found = await names(database)
    assert found[1::2] == ["second"] * (len(found) // 2)
    assert len(found) % 2 == 0
    await write(database, "last")
    assert (await names(database))[-1] == "last"


async def test_rows_of_a_statement_are_counted_and_returned(database: Database) -> None:
    async with database.writing() as connection:
        await connection.execute(
            text("INSERT INTO things VALUES (:name)"), [{"name": "a"}, {"name": "b"}]
        )
        changed = await connection.execute(text("UPDATE things SET name = name || 'x'"))
        returned = await connection.execute(text("DELETE FROM things RETURNING name"))

        assert changed.rowcount == 2
        assert returned.scalars().all() == ["ax", "bx"]
        assert (await connection.execute(select(literal(1)))).scalar_one() == 1
