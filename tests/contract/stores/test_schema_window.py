"""
A store may have a newer schema than the process: one that says it is compatible with its own.

So two releases work side by side on one store, and an older one starts again beside a newer one.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, text

from gateway.app.store import Store, prepare
from gateway.core.account import Environment
from gateway.store import schema
from gateway.store.kernel.database import Database
from gateway.store.stamp import StoreRefused, compatible_with
from tests.contract.stores.databases import both
from tests.world.store import open_store
from tests.world.stores.samples import now

pytestmark = both

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION
FIRST, OURS, NEWER = schema.REVISIONS[0], schema.REVISIONS[-1], "9999"
MADE_UP = {
    "0001_stamp": """
down_revision = None
compatible_with = "0001"

def upgrade():
    stamps.create(op.get_bind())

def downgrade():
    stamps.drop(op.get_bind())
""",
    "0002_note": """
down_revision = "0001"
compatible_with = "0002"

def upgrade():
    op.add_column("store_stamp", sa.Column("note", sa.Text()))

def downgrade():
    op.drop_column("store_stamp", "note")
""",
}
"""Two migrations, the second of which cuts the processes of the first off."""


@pytest.fixture
def two_migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    shutil.copy(Path(schema.__file__).parent / "migrations" / "env.py", folder)
    imports = "import sqlalchemy as sa\nfrom alembic import op\n"
    imports += "from gateway.store.tables.core import stamps\n"
    for name, content in MADE_UP.items():
        head = f'{imports}revision = "{name[:4]}"\n'
        (folder / "versions" / f"{name}.py").write_text(head + content)
    monkeypatch.setattr(schema, "_SCRIPTS", str(folder))
    monkeypatch.setattr(schema, "REVISIONS", ("0001", "0002"))
    monkeypatch.setattr(schema, "COMPATIBLE_WITH", "0002")


async def written(store: Store, *statements: str) -> None:
    async with store.database.writing() as connection:
        for each in statements:
            await connection.execute(text(each))


async def brought_to(store: Store, revision: str, oldest: str) -> None:
    """As a newer release's upgrade leaves it."""
    await prepare(store, SANDBOX, migrate=False, now=now)
    await written(
        store,
        f"UPDATE pixgate_schema SET version_num = '{revision}'",  # noqa: S608 - our own
        f"UPDATE store_stamp SET compatible_with = '{oldest}'",  # noqa: S608 - our own
    )


@pytest.mark.parametrize("oldest", [OURS, "0000"])
async def test_a_newer_schema_compatible_with_ours_is_accepted(
    unstamped: Store, oldest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ours, or with an older schema."""
    monkeypatch.setattr(schema, "REVISIONS", ("0000", OURS))
    await brought_to(unstamped, NEWER, oldest)

    for migrate in (True, False):
        stamp = await prepare(unstamped, SANDBOX, migrate=migrate, now=now)

        assert stamp.environment is SANDBOX
        assert await schema.current(unstamped.url) == NEWER


async def test_a_newer_incompatible_schema_is_refused(unstamped: Store) -> None:
    await brought_to(unstamped, NEWER, "9998")

    refusal = rf"^The store's schema 9999 is newer .*{OURS}: .* 9998\.$"
    for migrate in (True, False):
        with pytest.raises(StoreRefused, match=refusal):
            await prepare(unstamped, SANDBOX, migrate=migrate, now=now)


async def test_a_store_of_the_other_environment_is_refused_with_a_newer_schema(
    unstamped: Store,
) -> None:
    await brought_to(unstamped, NEWER, OURS)

    with pytest.raises(StoreRefused, match="belongs to sandbox"):
        await prepare(unstamped, PRODUCTION, migrate=False, now=now)


async def test_an_older_release_does_not_change_a_newer_schema(unstamped: Store) -> None:
    """It started its upgrade late, and cannot downgrade either."""
    await brought_to(unstamped, NEWER, OURS)

    await schema.upgrade(unstamped.url)
    with pytest.raises(StoreRefused, match="use the pixgate that made it"):
        await schema.downgrade(unstamped.url, "base")

    assert await schema.current(unstamped.url) == NEWER


@pytest.mark.usefixtures("two_migrations")
async def test_the_stamp_matches_the_schema_s_declaration(
    fresh: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever release stamped it first; incompatible releases are refused by the stamp."""
    await prepare(fresh, SANDBOX, migrate=True, now=now)
    said = [await compatible_with(fresh.database)]
    for going in (schema.downgrade(fresh.url, "0001"), schema.upgrade(fresh.url)):
        await going
        said.append(await compatible_with(fresh.database))

    monkeypatch.setattr(schema, "REVISIONS", ("0001",))
    with pytest.raises(StoreRefused, match=r"schema 0002 is newer .* needs a pixgate of 0002\.$"):
        await prepare(fresh, SANDBOX, migrate=True, now=now)

    assert said == ["0002", "0001", "0002"]


@pytest.mark.usefixtures("two_migrations")
async def test_an_older_schema_is_refused_unless_migration_is_allowed(fresh: Store) -> None:
    """The environment is compared first, so that the other environment's store is not migrated."""
    await prepare(fresh, SANDBOX, migrate=True, now=now)
    await schema.downgrade(fresh.url, "0001")

    with pytest.raises(StoreRefused, match=r"^The store has the schema 0001, 0002 is needed"):
        await prepare(fresh, SANDBOX, migrate=False, now=now)
    with pytest.raises(StoreRefused, match="belongs to sandbox"):
        await prepare(fresh, PRODUCTION, migrate=False, now=now)


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
    tables = [each for each in seen.get_table_names() if each != "pixgate_schema"]
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


async def test_a_migration_does_not_break_compatible_releases(fresh: Store) -> None:
    """Expand first; contract when no process of the previous release runs any more."""
    shapes = {}
    for revision in schema.REVISIONS:
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
    """A stamp as the first schema makes it, so that each further step has where to say it."""
    async with store.database.writing() as connection:
        there = await connection.execute(text("SELECT 1 FROM store_stamp"))
        if there.first() is None:
            at = "0" if connection.dialect.name == "sqlite" else "now()"
            await connection.execute(
                text(f"INSERT INTO store_stamp VALUES (1, 'sandbox', 'id', {at}, '{FIRST}')")  # noqa: S608 - ours
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


async def test_migrations_that_break_an_older_release_are_detected(unstamped: Store) -> None:
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
