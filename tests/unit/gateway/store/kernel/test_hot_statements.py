"""Statements that the driver runs alone say and find what they do through SQLAlchemy."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    Executable,
    bindparam,
    insert,
    select,
    update,
)
from sqlalchemy.exc import StatementError

from gateway.store.kernel.address import address
from gateway.store.kernel.database import Database, Limits
from gateway.store.kernel.hot_statements import Execution
from gateway.store.kernel.sqlite import open_file
from tests.unit.gateway.store.kernel.things import THINGS

ADD = insert(THINGS)
FOUND = select(THINGS).where(THINGS.c.day == bindparam("given")).order_by(THINGS.c.name)
NAMED = select(THINGS.c.name).where(
    THINGS.c.name.in_(bindparam("names", expanding=True)), THINGS.c.at >= bindparam("since")
)
TOLD = ADD.returning(THINGS.c.name, THINGS.c.at)
AT = datetime(2026, 11, 23, 14, 30, 0, 1, tzinfo=UTC)
DAY = date(2026, 11, 23)


def thing(name: str) -> dict[str, object]:
    return {"name": name, "at": AT, "day": DAY, "content": b"\x00\xff"}


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = open_file(address(f"sqlite:///{tmp_path}/store.db"), Limits())
    async with opened.writing() as connection:
        await connection.run_sync(THINGS.metadata.create_all)
    yield opened
    await opened.close()


async def do(
    database: Database, statement: Executable, rows: Sequence[Mapping[str, object]]
) -> tuple[Sequence[Any], int]:
    """Do a statement by the driver alone."""

    async def work(execution: Execution) -> tuple[Sequence[Any], int]:
        done = await execution.execute(statement, rows)
        return done.all(), done.rowcount

    return await database.write_together(work)


async def test_values_are_stored_and_read_as_by_sqlalchemy(database: Database) -> None:
    await do(database, ADD, [thing("b"), thing("a")])

    async with database.reading() as connection:
        there = (await connection.execute(FOUND, {"given": DAY})).all()
    found, _ = await do(database, FOUND, [{"given": DAY}])

    assert [tuple(each) for each in found] == [tuple(each) for each in there]
    assert [(each.name, each.at, each.content) for each in found] == [
        ("a", AT, b"\x00\xff"),
        ("b", AT, b"\x00\xff"),
    ]


async def test_what_is_found_for_each_row_comes_in_their_order(database: Database) -> None:
    found, changed = await do(database, TOLD, [thing("b"), thing("a")])

    assert [each.name for each in found] == ["b", "a"]
    assert changed == 2


async def test_values_beside_a_list_have_their_types_too(database: Database) -> None:
    """An instant is a number in the file; compared as a text it would be above all of them."""
    await do(database, ADD, [thing("a"), thing("b")])
    asked = {"names": ["a", "c", "d"], "since": AT}

    found, _ = await do(database, NAMED, [asked])

    assert [each.name for each in found] == ["a"]
    later, _ = await do(database, NAMED, [asked | {"since": AT.replace(year=2027)}])
    assert later == []


async def test_rows_that_were_changed_are_counted(database: Database) -> None:
    await do(database, ADD, [thing("a"), thing("b"), thing("c")])
    change = update(THINGS).where(THINGS.c.name == bindparam("was")).values(day=bindparam("new"))

    _, changed = await do(database, change, [{"was": name, "new": DAY} for name in "abx"])

    assert changed == 2


async def test_a_value_that_cannot_be_sent_is_not_quoted(database: Database) -> None:
    naive = thing("secret") | {"at": AT.replace(tzinfo=None)}

    with pytest.raises(StatementError) as raised:
        await _do_beneath(database, naive)

    assert "secret" not in str(raised.value)


async def _do_beneath(database: Database, row: Mapping[str, object]) -> None:
    async with database.transact(database.writer) as do:
        await do(lambda execution: _add(execution, row))


async def _add(execution: Execution, row: Mapping[str, object]) -> None:
    await execution.execute(ADD, [row])
