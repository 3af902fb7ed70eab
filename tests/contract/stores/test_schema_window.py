"""
A store may have a newer schema than the process: one that says it is compatible with its own.

So two releases work side by side on one store, and an older one starts again beside a newer one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from sqlalchemy import Connection, inspect, text

from gateway.domain.accounts.accounts import Environment
from gateway.store import schema
from gateway.store.engine import Store, open_store
from gateway.store.kernel.database import Database
from gateway.store.schema import prepare
from gateway.store.stamp import StoreRefused, compatible_with
from tests.contract.stores.databases import both
from tests.world.stores.samples import now

pytestmark = both

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION
OURS, NEWER = schema.REVISIONS[-1], "9999"
SINCE = "0022"
"""The first migration that declares whose processes may go on."""


async def written(store: Store, *statements: str) -> None:
    async with store.database.writing() as connection:
        for each in statements:
            await connection.execute(text(each))


async def brought_to(store: Store, revision: str, oldest: str | None) -> None:
    """As a newer release's upgrade leaves it."""
    await prepare(store, SANDBOX, migrate=False, now=now)
    said = "NULL" if oldest is None else f"'{oldest}'"
    await written(
        store,
        f"UPDATE alembic_version SET version_num = '{revision}'",  # noqa: S608 - our own
        f"UPDATE store_stamp SET compatible_with = {said}",  # noqa: S608 - our own
    )


@pytest.mark.parametrize("oldest", [OURS, schema.REVISIONS[-2], "0001"])
async def test_a_newer_schema_that_is_compatible_with_ours_is_accepted(
    unstamped: Store, oldest: str
) -> None:
    await brought_to(unstamped, NEWER, oldest)

    for migrate in (True, False):
        stamp = await prepare(unstamped, SANDBOX, migrate=migrate, now=now)

        assert stamp.environment is SANDBOX
        assert await schema.current(unstamped.url) == NEWER


@pytest.mark.parametrize(("oldest", "needed"), [("9998", "9998"), (None, NEWER)])
async def test_a_newer_schema_that_is_not_is_refused(
    unstamped: Store, oldest: str | None, needed: str
) -> None:
    await brought_to(unstamped, NEWER, oldest)

    refusal = rf"^The store's schema 9999 is newer .*{OURS}: .* {needed}\.$"
    for migrate in (True, False):
        with pytest.raises(StoreRefused, match=refusal):
            await prepare(unstamped, SANDBOX, migrate=migrate, now=now)


async def test_a_schema_of_somebody_else_is_refused(fresh: Store) -> None:
    await written(
        fresh,
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)",
        "INSERT INTO alembic_version VALUES ('ae1027a6acf')",
    )

    with pytest.raises(StoreRefused, match="schema ae1027a6acf is newer"):
        await prepare(fresh, SANDBOX, migrate=True, now=now)


async def test_the_other_environment_s_store_is_refused_in_the_window_too(unstamped: Store) -> None:
    await brought_to(unstamped, NEWER, OURS)

    with pytest.raises(StoreRefused, match="belongs to sandbox"):
        await prepare(unstamped, PRODUCTION, migrate=False, now=now)


async def test_an_older_release_leaves_a_newer_schema_alone(unstamped: Store) -> None:
    """One that was slower to upgrade finds it done; it does not know the way down either."""
    await brought_to(unstamped, NEWER, OURS)

    await schema.upgrade(unstamped.url)
    with pytest.raises(StoreRefused, match="use the pixgate that made it"):
        await schema.downgrade(unstamped.url, "base")

    assert await schema.current(unstamped.url) == NEWER


async def test_the_stamp_says_what_the_schema_declares(unstamped: Store) -> None:
    """Whoever stamped it first, and whichever way it went since."""
    await prepare(unstamped, SANDBOX, migrate=True, now=now)
    stamped = await compatible_with(unstamped.database)
    await schema.downgrade(unstamped.url, "0021")
    before = await compatible_with(unstamped.database)

    await schema.upgrade(unstamped.url)

    assert (stamped, before) == (schema.COMPATIBLE_WITH, None)
    assert await compatible_with(unstamped.database) == schema.COMPATIBLE_WITH


@dataclass(frozen=True, slots=True)
class Shape:
    """
    What an older process relies on.

    Attributes:
        columns: By table: whether an INSERT that does not know the column must fail.
        unique: By table, the columns of which no two rows may have the same.
    """

    columns: Mapping[str, Mapping[str, bool]]
    unique: Mapping[str, frozenset[tuple[str | None, ...]]]


def shape(connection: Connection) -> Shape:
    seen = inspect(connection)
    tables = [each for each in seen.get_table_names() if each != "alembic_version"]
    return Shape(
        columns={
            table: {
                each["name"]: not each["nullable"] and each["default"] is None
                for each in seen.get_columns(table)
            }
            for table in tables
        },
        unique={
            table: frozenset(
                tuple(each["column_names"]) for each in seen.get_indexes(table) if each["unique"]
            )
            | {tuple(each["column_names"]) for each in seen.get_unique_constraints(table)}
            for table in tables
        },
    )


def breaks(old: Shape, new: Shape) -> list[str]:
    """What a process of the old schema can not do any more on the new one."""
    found = []
    for table, columns in old.columns.items():
        now_there = new.columns.get(table)
        if now_there is None:
            found.append(f"{table} is gone")
            continue
        found += [f"{table}.{each} is gone" for each in columns if each not in now_there]
        found += [
            f"{table}.{each} must be given"
            for each, must in now_there.items()
            if must and not columns.get(each, False)
        ]
        found += [
            f"{table}: {each} became unique" for each in new.unique[table] - old.unique[table]
        ]
    return found


async def shape_of(database: Database) -> Shape:
    async with database.reading() as connection:
        return await connection.run_sync(shape)


async def test_a_migration_breaks_nothing_of_those_it_is_compatible_with(fresh: Store) -> None:
    """Expand first; contract when no process of the release before is left."""
    shapes = {}
    for revision in schema.REVISIONS[schema.REVISIONS.index(SINCE) :]:
        await schema.upgrade(fresh.url, revision)
        await prepare_stamp(fresh)
        oldest = await compatible_with(fresh.database)
        shapes[revision] = oldest, await shape_of(fresh.database)

    wrong = {
        revision: found
        for revision, (oldest, made) in shapes.items()
        if (found := breaks(shapes[oldest][1], made))
    }

    assert wrong == {}


async def prepare_stamp(store: Store) -> None:
    """A stamp, so that each further step has where to say it."""
    async with store.database.writing() as connection:
        there = await connection.execute(text("SELECT 1 FROM store_stamp"))
        if there.first() is None:
            at = "0" if connection.dialect.name == "sqlite" else "now()"
            await connection.execute(
                text(f"INSERT INTO store_stamp VALUES (1, 'sandbox', 'id', {at}, '{SINCE}')")  # noqa: S608 - ours
            )


BREAKING = {
    "ALTER TABLE payouts ADD COLUMN note TEXT": 0,
    "ALTER TABLE payouts ADD COLUMN kind TEXT NOT NULL DEFAULT ''": 0,
    "CREATE TABLE notes (one INTEGER NOT NULL)": 0,
    "CREATE INDEX ix_note ON payouts (description)": 0,
    "CREATE UNIQUE INDEX uq_note ON payouts (description)": 1,
    "ALTER TABLE companies RENAME COLUMN name TO title": 2,
    "DROP TABLE account_readings": 1,
}
"""How many things a process of the schema before can not do any more after it."""


async def test_what_breaks_an_older_release_is_seen(unstamped: Store) -> None:
    await prepare(unstamped, SANDBOX, migrate=True, now=now)
    found = {}
    for statement in BREAKING:
        before = await shape_of(unstamped.database)
        await written(unstamped, statement)
        found[statement] = breaks(before, await shape_of(unstamped.database))

    assert {each: len(wrong) for each, wrong in found.items()} == BREAKING


async def test_two_releases_that_upgrade_at_once_agree(fresh: Store, url: str) -> None:
    other = open_store(url)

    await asyncio.gather(
        *(prepare(each, SANDBOX, migrate=True, now=now) for each in (fresh, other))
    )

    assert await compatible_with(other.database) == schema.COMPATIBLE_WITH
    await other.close()
