"""
The schema and its revisions; whose store it is, and whether this gateway may work on it.

Alembic is imported only when a revision is run: it costs 0.3 s that no start should pay.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, column, func, inspect, select, table

from gateway.domain.accounts.accounts import Environment
from gateway.domain.kernel.clocks import Now
from gateway.store.engine import Store, open_database
from gateway.store.kernel.address import address, is_sqlite
from gateway.store.kernel.database import Database, Limits
from gateway.store.tables.core import stamps

REVISIONS = tuple(f"{number:04}" for number in range(1, 15))
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


_SAFE_SQLITE = (3, 51, 3)
_FIT_TO_TRY = (
    "SQLite {} is fine for a sandbox. For data that must last use 3.51.3 or newer: on rare "
    "occasions an older one damages its file. Production refuses it."
)


class StoreRefused(Exception):
    """This gateway must not work on this store; the text is one line for the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What a store was marked with when it was first used; ``id`` is a UUID."""

    environment: Environment
    id: str
    created_at: datetime


async def prepare(
    store: Store,
    environment: Environment,
    *,
    migrate: bool,
    now: Now,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Stamp:
    """
    Make sure that the store is ours and of our schema; a fresh one is stamped.

    Args:
        store: Opened; nothing was asked of it yet.
        environment: The gateway's.
        migrate: Bring an older schema up to ours rather than refuse it.
        now: Dates the stamp.
        new_id: Names the store.

    Raises:
        StoreRefused: it is of the other environment, or of a schema that is
            newer than ours, or older and not to be migrated.
        StoreUnavailable: it does not answer.
    """
    await _bring_up(store, environment, migrate=migrate)
    fresh = Stamp(environment=environment, id=new_id(), created_at=now())
    stamp = await _stamped(store.database, fresh)
    _check_environment(stamp, environment)
    return stamp


def refuse_unsafe_sqlite(
    environment: Environment,
    url: str,
    *,
    allowed: bool,
    version: tuple[int, int, int] = sqlite3.sqlite_version_info,
) -> str | None:
    """
    Refuse SQLite in production unless it was allowed and its library is safe.

    Libraries before 3.51.3 can corrupt a file in WAL mode.

    Returns:
        In the sandbox, one line about an older library; else None.

    Raises:
        StoreRefused: production on SQLite that is not allowed, or not safe.
    """
    is_safe = version >= _SAFE_SQLITE or not is_sqlite(address(url))
    has = ".".join(map(str, version))
    if environment is Environment.SANDBOX:
        return None if is_safe else _FIT_TO_TRY.format(has)
    if is_sqlite(address(url)) and not allowed:
        problem = "Production needs PostgreSQL; SQLite there must be allowed explicitly."
        raise StoreRefused(problem)
    if not is_safe:
        problem = f"Production on SQLite needs the library 3.51.3 or later; this one is {has}."
        raise StoreRefused(problem)
    return None


async def _bring_up(store: Store, environment: Environment, *, migrate: bool) -> None:
    """Migrate where it may be done, but never the other environment's store."""
    revision = await revision_of(store.database)
    if revision is not None:
        _check_known(revision)
        _check_environment(await _read(store.database), environment)
    if revision != REVISIONS[-1]:
        if not migrate:
            raise StoreRefused(_outdated(revision))
        await upgrade(store.url)


def _check_known(revision: str) -> None:
    if revision not in REVISIONS:
        ours = REVISIONS[-1]
        problem = f"The store's schema {revision} is newer than this pixgate's {ours}."
        raise StoreRefused(problem)


def _check_environment(stamp: Stamp | None, environment: Environment) -> None:
    if stamp is not None and stamp.environment is not environment:
        problem = f"The store belongs to {stamp.environment}, this gateway to {environment}."
        raise StoreRefused(problem)


def _outdated(revision: str | None) -> str:
    has = "no schema yet" if revision is None else f"the schema {revision}"
    return f"The store has {has}, {REVISIONS[-1]} is needed: run `pixgate db upgrade`."


async def _read(database: Database) -> Stamp | None:
    async with database.reading() as connection:
        row = (await connection.execute(select(stamps))).one_or_none()
    if row is None:
        return None
    return Stamp(environment=Environment(row.environment), id=row.id, created_at=row.created_at)


async def _stamped(database: Database, fresh: Stamp) -> Stamp:
    """Stamp a store that has no stamp; return the one it has then."""
    found = await _read(database)
    if found is not None:
        return found
    row = {
        "one": 1,
        "environment": fresh.environment.value,
        "id": fresh.id,
        "created_at": fresh.created_at,
    }
    async with database.writing() as connection:
        await database.add(connection, stamps, row)
    found = await _read(database)
    if found is None:
        problem = "The store does not keep its stamp."
        raise StoreRefused(problem)
    return found
