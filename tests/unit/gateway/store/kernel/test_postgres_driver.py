"""Statements asked of PostgreSQL's driver do, find and fail as they do through SQLAlchemy."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from sqlalchemy import (
    column,
    delete,
    func,
    insert,
    select,
    table,
    update,
)

from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.address import address
from gateway.store.kernel.database import Database, Limits
from gateway.store.kernel.postgres import open_server
from gateway.store.kernel.prepared import Execution
from tests.unit.gateway.store.kernel.things import THINGS

ADD = insert(THINGS)
ALL = select(THINGS).order_by(THINGS.c.name)
ABSENT = select(table("absent", column("name")))
END = select(func.pg_terminate_backend(func.pg_backend_pid()))
AT = datetime(2026, 11, 23, 14, 30, 0, 1, tzinfo=UTC)
A = {"name": "a", "at": AT, "day": date(2026, 11, 23), "content": b"\x00\xff"}
B = {**A, "name": "b"}


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[Database]:
    opened = open_server(address(postgres_url), Limits(pool_size=1))
    async with opened.writing() as connection:
        await connection.run_sync(THINGS.metadata.create_all)
    yield opened
    await opened.close()


Work = Callable[[Execution], Awaitable[Any]]


async def at_once(database: Database, work: Work) -> Any:
    async with database.writing_at_once() as execution:
        return await work(execution)


async def names(database: Database) -> list[str]:
    async with database.reading() as connection:
        return [row.name for row in (await connection.execute(ALL)).all()]


async def test_values_are_stored_and_read_as_by_sqlalchemy(database: Database) -> None:
    async def work(execution: Execution) -> tuple[object, ...]:
        await execution.execute(ADD, [A, B])
        [first, _] = (await execution.execute(ALL)).all()
        return tuple(first)

    found = await at_once(database, work)
    async with database.reading() as connection:
        there = (await connection.execute(ALL)).all()

    assert found == tuple(A.values())
    assert [tuple(each) for each in there] == [tuple(A.values()), tuple(B.values())]


async def test_the_number_of_changed_rows_is_returned(database: Database) -> None:
    async def work(execution: Execution) -> list[int]:
        done = [await execution.execute(ADD, [A, B])]
        done.append(await execution.execute(update(THINGS).values(day=None)))
        done.append(await execution.execute(delete(THINGS).where(THINGS.c.name == "none")))
        return [each.rowcount for each in done]

    assert await at_once(database, work) == [2, 2, 0]


async def test_a_failure_has_the_server_s_message(database: Database) -> None:
    async def work(execution: Execution) -> None:
        await execution.execute(ABSENT)

    with pytest.raises(StoreUnavailable, match=r'UndefinedTableError 42P01: .*"absent"'):
        await at_once(database, work)


async def test_a_value_that_cannot_be_sent_is_refused_and_not_quoted(database: Database) -> None:
    async def work(execution: Execution) -> None:
        await execution.execute(ADD, {**A, "name": 52998224725})

    with pytest.raises(StoreUnavailable) as refused:
        await at_once(database, work)

    assert str(refused.value) == "DataError 22000"
    assert refused.value.__cause__ is None


async def test_a_refused_row_is_not_quoted(database: Database) -> None:
    async def work(execution: Execution) -> None:
        await execution.execute(ADD, A)
        await execution.execute(ADD, A)

    with pytest.raises(StoreUnavailable, match="23505") as refused:
        await at_once(database, work)

    assert refused.value.__cause__ is None


async def test_a_lost_connection_is_not_used_again(database: Database) -> None:
    async def work(execution: Execution) -> None:
        await execution.execute(ADD, A)
        await execution.execute(END)

    with pytest.raises(StoreUnavailable):
        await at_once(database, work)

    assert await names(database) == ["a"]


async def test_each_statement_is_its_own_transaction(database: Database) -> None:
    async def work(execution: Execution) -> list[object]:
        ids = select(func.txid_current())
        return [(await execution.execute(ids)).scalar_one() for _ in range(2)]

    first, second = await at_once(database, work)

    assert first != second
