"""The schema: what migrations make is what the code declares, and all of it goes again."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_mock_engine, inspect

from gateway.core.storage import StoreUnavailable
from gateway.store import schema
from gateway.store.kernel.database import DEFAULT_LIMITS, Database
from gateway.store.kernel.partitions import EVENTS, FEEDS, REQUESTS
from gateway.store.opening import open_database
from gateway.store.stamp import StoreRefused
from gateway.store.tables.every import METADATA
from tests.contract.stores.databases import both

pytestmark = both


def tables(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


DEFINED = {
    "sqlite": """
        SELECT type, name, sql FROM sqlite_master
        WHERE sql IS NOT NULL AND name <> 'pixgate_schema'
    """,
    "postgresql": """
        WITH ours AS (
            SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
            AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'pixgate_schema'
        )
        SELECT 'table', relname, coalesce(pg_get_partkeydef(oid), '') FROM ours
        UNION SELECT 'column', relname, concat_ws(
            ' ', attname, format_type(atttypid, atttypmod), attnotnull,
            attcollation::regcollation, pg_get_expr(adbin, adrelid)
        )
        FROM ours JOIN pg_attribute ON attrelid = ours.oid AND attnum > 0 AND NOT attisdropped
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        UNION SELECT 'constraint', relname, conname || ' ' || pg_get_constraintdef(c.oid)
        FROM ours JOIN pg_constraint c ON conrelid = ours.oid
        UNION SELECT 'index', relname, indexdef FROM ours JOIN pg_indexes ON tablename = relname
        UNION SELECT 'trigger', relname, pg_get_triggerdef(pg_trigger.oid)
        FROM ours JOIN pg_trigger ON tgrelid = ours.oid AND NOT tgisinternal
        UNION SELECT 'trigger', proname, pg_get_functiondef(oid)
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    """,
}
"""What a database has, in its own words: the kind, a name, and how it is defined."""


async def defined(database: Database) -> set[tuple[str, str, str]]:
    """Of a table of SQLite each column and constraint: they come in any order, some on one line."""
    async with database.reading() as connection:
        found = await connection.exec_driver_sql(DEFINED[connection.dialect.name])
        return {
            (kind, name, line.strip("\t ,"))
            for kind, name, text in found
            for line in re.split(r"\n| (?=CONSTRAINT ck_)|, (?=\w+ [A-Z])", text)
        }


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    opened = open_database(url, DEFAULT_LIMITS)
    yield opened
    await opened.close()


def parted(statement: str) -> str:
    """Add what a table that ``partitions`` knows has on PostgreSQL alone."""
    if statement.split()[2] not in {each.table.name for each in (REQUESTS, EVENTS, FEEDS)}:
        return statement
    keyed = statement.replace("PRIMARY KEY (number)", "PRIMARY KEY (at, number)")
    return f"{keyed} PARTITION BY RANGE (at)"


async def declare(database: Database) -> None:
    made: list[str] = []
    dialect = database.writer.dialect
    engine = create_mock_engine(
        f"{dialect.name}://", lambda ddl, *_, **__: made.append(str(ddl.compile(dialect=dialect)))
    )
    METADATA.create_all(engine, checkfirst=False)
    async with database.writing() as connection:
        for statement in made:
            is_server = dialect.name == "postgresql"
            await connection.exec_driver_sql(parted(statement) if is_server else statement)


async def test_a_store_without_tables_is_at_no_revision(url: str) -> None:
    found = await schema.current(url)

    assert found is None


async def test_a_downgrade_to_base_leaves_no_table(url: str, database: Database) -> None:
    await schema.upgrade(url)
    made = await defined(database)

    await schema.downgrade(url, "base")

    assert (await schema.current(url), await defined(database)) == (None, set())
    await schema.upgrade(url)
    assert await defined(database) == made


async def test_a_second_upgrade_changes_nothing(url: str) -> None:
    await schema.upgrade(url)

    await schema.upgrade(url)

    assert await schema.current(url) == schema.REVISIONS[-1]


async def test_the_migrations_make_the_tables_in_code(url: str, database: Database) -> None:
    """With every index and its condition, every constraint and every default."""
    await schema.upgrade(url)
    migrated = {each for each in await defined(database) if each[0] != "trigger"}
    await schema.downgrade(url, "base")

    await declare(database)
    in_code = await defined(database)

    differences = {
        "in gateway/store/tables alone": in_code - migrated,
        "in the migrations alone": migrated - in_code,
    }
    assert not any(differences.values()), differences


async def test_a_store_from_before_the_first_release_is_refused(
    url: str, kind: str, database: Database
) -> None:
    """Its revisions have numbers too, for other schemas."""
    async with database.writing() as connection:
        await connection.exec_driver_sql("CREATE TABLE alembic_version (version_num TEXT)")
        await connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('0001')")

    what_to_do = "`make clean` removes it" if kind == "sqlite" else "create a new one"
    for doing in (schema.current(url), schema.upgrade(url), schema.downgrade(url, "base")):
        with pytest.raises(StoreRefused, match=rf"^The .* before the first release: {what_to_do}"):
            await doing


async def test_a_migration_is_made_completely_or_not_at_all(url: str, database: Database) -> None:
    """If the last tables cannot be created, the first ones are rolled back too."""
    async with database.writing() as connection:
        await connection.exec_driver_sql("CREATE TABLE payout_returns (one INTEGER)")

    with pytest.raises(StoreUnavailable):
        await schema.upgrade(url)

    async with database.reading() as connection:
        left = await connection.run_sync(tables)
    assert left == {"payout_returns"}


async def test_concurrent_upgrades_of_two_stores_in_one_process_do_not_mix(
    url: str, tmp_path: Path
):
    """Alembic keeps the current migration in a global."""
    other = f"sqlite:///{tmp_path / 'other.db'}"

    await asyncio.gather(schema.upgrade(url), schema.upgrade(other))

    assert [await schema.current(each) for each in (url, other)] == [schema.REVISIONS[-1]] * 2
