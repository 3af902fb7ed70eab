"""Whose store it is, and whether this gateway may work on it."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from gateway.domain.accounts.accounts import Environment
from gateway.domain.kernel.clocks import Now
from gateway.store import schema
from gateway.store.engine import Store
from gateway.store.kernel.address import address, is_sqlite
from gateway.store.kernel.database import Database
from gateway.store.tables.core import stamps

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
    revision = await schema.revision_of(store.database)
    if revision is not None:
        _check_known(revision)
        _check_environment(await _read(store.database), environment)
    if revision != schema.REVISIONS[-1]:
        if not migrate:
            raise StoreRefused(_outdated(revision))
        await schema.upgrade(store.url)


def _check_known(revision: str) -> None:
    if revision not in schema.REVISIONS:
        ours = schema.REVISIONS[-1]
        problem = f"The store's schema {revision} is newer than this pixgate's {ours}."
        raise StoreRefused(problem)


def _check_environment(stamp: Stamp | None, environment: Environment) -> None:
    if stamp is not None and stamp.environment is not environment:
        problem = f"The store belongs to {stamp.environment}, this gateway to {environment}."
        raise StoreRefused(problem)


def _outdated(revision: str | None) -> str:
    has = "no schema yet" if revision is None else f"the schema {revision}"
    return f"The store has {has}, {schema.REVISIONS[-1]} is needed: run `pixgate db upgrade`."


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
