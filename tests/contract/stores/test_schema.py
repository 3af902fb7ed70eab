"""Migrations: up, down and up again, and what they make is what the statements expect."""

import asyncio
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect, select

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.store import schema
from gateway.store.engine import open_database
from gateway.store.kernel.database import DEFAULT_LIMITS, Database
from gateway.store.tables.core import METADATA, audit_head
from tests.contract.stores.databases import both

pytestmark = both


def differences(connection: Connection) -> list[object]:
    """What a migration would have to do to reach the tables in code."""
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, METADATA))


def tables(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


SHAPES = {
    "sqlite": """
        SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c
        WHERE t.type = 'table'
        UNION SELECT tbl_name, name FROM sqlite_master WHERE type IN ('index', 'trigger')
    """,
    "postgresql": """
        SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public'
        UNION SELECT tablename, indexname FROM pg_indexes WHERE schemaname = 'public'
        UNION SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal
    """,
}
"""What every table has, by name: columns, indexes and triggers. SQLAlchemy asks table by table."""


async def shape_of(database: Database) -> set[tuple[str, str]]:
    async with database.reading() as connection:
        found = await connection.exec_driver_sql(SHAPES[connection.dialect.name])
        return {(table, name) for table, name in found}


async def test_a_store_without_tables_is_at_no_revision(url: str) -> None:
    found = await schema.current(url)

    assert found is None


async def test_each_step_down_undoes_its_step_up(url: str) -> None:
    """What a step leaves behind is not seen any more once its table is gone."""
    database = open_database(url, DEFAULT_LIMITS)
    made = {}
    for revision in schema.REVISIONS:
        await schema.upgrade(url, revision)
        made[revision] = await shape_of(database)

    left = {}
    for revision in reversed(schema.REVISIONS[:-1]):
        await schema.downgrade(url, revision)
        left[revision] = await shape_of(database)

    assert left == {revision: made[revision] for revision in left}
    await schema.downgrade(url, "base")
    assert await schema.current(url) is None
    async with database.reading() as connection:
        assert await connection.run_sync(tables) <= {"alembic_version"}
    await schema.upgrade(url)
    assert await shape_of(database) == made[schema.REVISIONS[-1]]
    await database.close()


async def test_going_up_twice_changes_nothing(url: str) -> None:
    await schema.upgrade(url)

    await schema.upgrade(url)

    assert await schema.current(url) == schema.REVISIONS[-1]


async def test_the_migrations_make_the_tables_in_code(url: str) -> None:
    await schema.upgrade(url)
    database = open_database(url, DEFAULT_LIMITS)

    async with database.reading() as connection:
        found = await connection.run_sync(differences)

    await database.close()
    assert found == []


BEFORE_COMPANIES = "0006"
THERE = """
INSERT INTO companies VALUES ('co', 'C', {at});
INSERT INTO accounts
VALUES ('ac', 'co', 'A', '1', {yes}, {yes}, 'bank', 'x', {none}, '', '', '', '', {at});
INSERT INTO callbacks
VALUES ('cb', 'bank', 'e', 'charge', 'r', {at}, {none}, 'done', 1, NULL, NULL);
INSERT INTO audit VALUES (1, {at}, 'cli', 'a', 'company:co', '', 't', {none});
INSERT INTO audit VALUES (2, {at}, 'cli', 'a', 'account:ac', '', 't', {none});
INSERT INTO audit VALUES (3, {at}, 'cli', 'a', 'account:none', '', 't', {none});
INSERT INTO audit VALUES (4, {at}, 'cli', 'a', 'signing_key:1', '', 't', {none});
INSERT INTO audit VALUES (5, {at}, 'cli', 'a', 'stop:none', '', 't', {none})
"""
"""Rows of an older schema; only what a store of that age can hold."""


async def test_older_acts_get_the_companies_of_their_subjects(url: str):
    """In spite of the guards, which stand again afterwards; and the way back takes them away."""
    await schema.upgrade(url, BEFORE_COMPANIES)
    database = open_database(url, DEFAULT_LIMITS)
    async with database.writing() as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        values = {
            "at": "0" if is_sqlite else "now()",
            "yes": "1" if is_sqlite else "true",
            "none": "x''" if is_sqlite else "''",
        }
        for statement in THERE.split(";"):
            await connection.exec_driver_sql(statement.format(**values))

    for _ in range(2):
        await schema.upgrade(url)
        async with database.reading() as connection:
            rows = await connection.exec_driver_sql("SELECT companies FROM audit ORDER BY number")
            found = list(rows.scalars())
            heads = await connection.execute(select(audit_head.c.key_id, audit_head.c.seal))
            assert heads.one() == ("", b"")
        with pytest.raises(StoreUnavailable):
            async with database.writing() as connection:
                await connection.exec_driver_sql("UPDATE audit SET companies = 'other'")
        await schema.downgrade(url, BEFORE_COMPANIES)
    await database.close()

    assert found == ["co", "co", "", "", ""]


async def test_a_migration_is_done_whole_or_not_at_all(url: str) -> None:
    """A table in the way of the last ones takes the first ones back too."""
    database = open_database(url, DEFAULT_LIMITS)
    async with database.writing() as connection:
        await connection.exec_driver_sql("CREATE TABLE audit_head (one INTEGER)")

    with pytest.raises(StoreUnavailable):
        await schema.upgrade(url)

    async with database.reading() as connection:
        left = await connection.run_sync(tables)
    await database.close()
    assert left == {"audit_head"}


async def test_stores_that_one_process_brings_up_at_once_do_not_mix(url: str, tmp_path: Path):
    """The library keeps the migration that is under way in a global."""
    other = f"sqlite:///{tmp_path / 'other.db'}"

    await asyncio.gather(schema.upgrade(url), schema.upgrade(other))

    assert [await schema.current(each) for each in (url, other)] == [schema.REVISIONS[-1]] * 2
