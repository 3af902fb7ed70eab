"""Single prepared statements on a connection of the pool, which is always returned."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, date, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import column, func, insert, select, table

from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.address import address
from gateway.store.kernel.database import Database, Limits
from gateway.store.kernel.postgres import open_server
from gateway.store.kernel.prepared import Execution
from gateway.store.kernel.sqlite import nowhere
from gateway.store.opening import open_database
from tests.unit.gateway.store.kernel.things import THINGS

_ONE = Limits(pool_size=1, checkout_s=60, whole_s=60)
_ROW = {
    "name": "a",
    "at": datetime(2026, 11, 24, 3, 15, 0, 1, tzinfo=UTC),
    "day": date(2026, 11, 24),
    "content": b"\x00\xff",
}
_ALL = select(THINGS).order_by(THINGS.c.name)
_ABSENT = select(table("absent", column("name")))
_END = select(func.pg_terminate_backend(func.pg_backend_pid()))


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    opened = open_database(url, _ONE)
    async with opened.writing() as connection:
        await connection.run_sync(THINGS.metadata.create_all)
        await connection.execute(insert(THINGS), _ROW)
    yield opened
    await opened.close()


Work = Callable[[Execution], Awaitable[Any]]


async def at_once(database: Database, work: Work) -> Any:
    async with database.reading_at_once() as execution:
        return await work(execution)


async def every(execution: Execution) -> list[tuple[object, ...]]:
    return [tuple(row) for row in (await execution.execute(_ALL)).all()]


async def test_prepared_statements_find_stored_rows(database: Database) -> None:
    assert await at_once(database, every) == [tuple(_ROW.values())]


async def test_a_failed_statement_raises_a_store_error_and_affects_no_other(
    database: Database,
) -> None:
    async def fail(execution: Execution) -> None:
        await execution.execute(_ABSENT)

    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await at_once(database, fail)

    assert await at_once(database, every) == [tuple(_ROW.values())]
    assert (database.usage.waiting, database.usage.in_use) == (0, 0)


async def test_waiting_too_long_for_a_connection_is_refused(url: str, database: Database) -> None:
    hasty = open_database(url, Limits(pool_size=1, checkout_s=0.05))

    async with hasty.reading():
        with pytest.raises(StoreUnavailable):
            await at_once(hasty, every)

    assert await at_once(hasty, every) == await at_once(database, every)
    await hasty.close()


async def test_a_cancelled_read_returns_its_connection(database: Database) -> None:
    """At any point, also while returning it; otherwise the next one waits for ever."""
    for turns, times in product(range(8), (1, 2)):
        looking = asyncio.ensure_future(at_once(database, every))
        for _ in range(turns):
            await asyncio.to_thread(int)  # as long as the driver has turns
        for _ in range(times):
            looking.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([looking])

        assert looking.cancelled() or looking.result()
        assert await at_once(database, every)


async def test_a_lost_connection_is_not_used_again(postgres_url: str) -> None:
    database = open_database(postgres_url, _ONE)

    async def lose(execution: Execution) -> None:
        await execution.execute(_END)

    async def version(execution: Execution) -> object:
        return (await execution.execute(select(func.version()))).scalar_one()

    with pytest.raises(StoreUnavailable):
        await at_once(database, lose)

    assert str(await at_once(database, version)).startswith("PostgreSQL")
    await database.close()


@pytest.mark.parametrize(
    "database",
    [open_server(address("postgresql://127.0.0.1:1/x"), _ONE), nowhere(_ONE)],
    ids=["postgres", "sqlite"],
)
async def test_a_missing_database_is_reported_in_the_same_words_as_by_sqlalchemy(
    database: Database,
) -> None:
    with pytest.raises(StoreUnavailable) as by_sqlalchemy:
        async with database.reading():
            pass
    with pytest.raises(StoreUnavailable) as alone:
        await at_once(database, every)

    assert str(alone.value) == str(by_sqlalchemy.value)
    await database.close()
    for thread in threading.enumerate():
        if "_connection_worker" in thread.name:  # of the file's driver: it ends a moment later
            await asyncio.to_thread(thread.join)


async def test_consecutive_reads_use_the_same_connection(
    postgres_url: str,
) -> None:
    """Each server process has caches to warm, so rotating connections costs twice as much."""
    database = open_database(postgres_url, Limits(pool_size=4))

    async def pid(execution: Execution) -> object:
        return (await execution.execute(select(func.pg_backend_pid()))).scalar_one()

    opened = set(await asyncio.gather(*(at_once(database, pid) for _ in range(4))))
    used = {await at_once(database, pid) for _ in range(8)}

    assert len(opened) == 4
    assert len(used) == 1
    await database.close()
