"""
The schema and its revisions.

Alembic is imported only when a revision is run: it costs 0.3 s that no start should pay.
"""

from __future__ import annotations

from sqlalchemy import Connection, column, func, inspect, select, table

from gateway.store.engine import open_database
from gateway.store.kernel.database import Database, Limits

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
"""Every revision, oldest first; the last one is what this code works with."""

_SCRIPTS = "gateway.store:migrations"
_VERSION = table("alembic_version", column("version_num"))
# Rewriting a large table takes longer than any request may.
_PATIENT = Limits(pool_size=1, statement_s=600.0, busy_s=60.0, whole_s=900.0)
# Any number will do, if nobody else takes it: "pixgate" as a base-36 number.
_LOCK = int("pixgate", 36)


async def current(url: str) -> str | None:
    """Return the revision a store is at; None when it has none yet."""
    database = open_database(url, _PATIENT)
    try:
        return await revision_of(database)
    finally:
        await database.close()


async def upgrade(url: str, revision: str = "head") -> None:
    """
    Bring a store up to a revision; nothing happens when it is there already.

    One transaction: done whole or not at all. A second one at the same time
    waits for the first.
    """
    await _migrate(url, "upgrade", revision)


async def downgrade(url: str, revision: str) -> None:
    """Bring a store down to a revision, ``base`` for none; what only later ones hold is lost."""
    await _migrate(url, "downgrade", revision)


async def revision_of(database: Database) -> str | None:
    """Return the revision an opened database is at; None when it has none yet."""
    async with database.reading() as connection:
        if not await connection.run_sync(_is_versioned):
            return None
        found = await connection.execute(select(_VERSION.c.version_num))
        revision: str | None = found.scalar_one_or_none()
        return revision


def _is_versioned(connection: Connection) -> bool:
    return inspect(connection).has_table(_VERSION.name)


async def _migrate(url: str, direction: str, revision: str) -> None:
    database = open_database(url, _PATIENT)
    try:
        async with database.writing() as connection:
            if connection.dialect.name == "postgresql":
                await connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            await connection.run_sync(_run, direction, revision)
    finally:
        await database.close()


def _run(connection: Connection, direction: str, revision: str) -> None:
    from alembic import command  # noqa: PLC0415 - see the module
    from alembic.config import Config  # noqa: PLC0415 - see the module

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", _SCRIPTS)
    getattr(command, direction)(config, revision)
