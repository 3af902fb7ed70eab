"""
The schema and its revisions, and checks of the store's identity.

Alembic is imported only when a revision is run: it costs 0.3 s that no start should pay.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, column, func, inspect, select, table, text, update
from sqlalchemy.exc import DBAPIError

from gateway.core.account import Environment
from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.database import Database, Limits
from gateway.store.opening import open_database
from gateway.store.stamp import StoreRefused, check_environment, compatible_with, read_stamp
from gateway.store.tables.core import stamps

REVISIONS = ("0001",)
"""Every revision, oldest first; the last one is what this code was written for."""
COMPATIBLE_WITH: Final = "0001"
"""What the last of them declares: the oldest schema whose processes may go on beside it."""
_HOLDS: Final = {
    "the stops of payouts, those in force too": "0001",
    "the limits of credentials, which pay without any then": "0001",
    "what came back of paid payouts": "0001",
}
"""What limits, stops or counts money, and the first schema that has it."""
_SCRIPTS = "gateway.store:migrations"
_VERSION = table("pixgate_schema", column("version_num"))
_BEFORE: Final = "alembic_version"
"""Where revisions stood before the first release; those numbers mean other schemas."""
# Rewriting a large table takes longer than any request may.
_PATIENT = Limits(pool_size=1, statement_s=600.0, busy_s=60.0, whole_s=900.0)
# Any number will do, if nobody else takes it: "pixgate" as a base-36 number.
_LOCK = int("pixgate", 36)
_BRIEFLY: Final = text("SET LOCAL lock_timeout = '900ms'")
"""Whoever comes after us waits behind us; a server looks for deadlocks after a second, and might
end a payout's transaction in place of ours."""
_GAVE_WAY: Final = {"55P03", "40P01"}
"""States of a lock that was not given in time, and of a deadlock."""
_PAUSE_S: Final = 5.0
"""Between two tries others have six times as long as they may have waited."""
_LONGEST_S: Final = 600.0
"""A backup may take longer; an upgrade is better done after it than in a gap of it."""
_LONGEST_TEXT: Final = 120
_log: Final = logging.getLogger("gateway")  # on standard error where a command logs nothing
# Alembic keeps the migration that is under way in a global: two of one process would mix.
_turns: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]] = WeakKeyDictionary()


async def current(url: str) -> str | None:
    """
    Return the revision a store is at; None when it has none yet.

    Raises:
        StoreRefused: the store was made before the first release.
    """
    database = open_database(url, _PATIENT)
    try:
        return await revision_of(database)
    finally:
        await database.close()


async def upgrade(url: str, revision: str = "head") -> None:
    """
    Bring a store up to a revision; nothing happens when it is there already.

    One transaction: done whole or not at all. A second one at the same time
    waits for the first. On PostgreSQL it waits for others' locks in short tries, and says so in
    the log: requests for the same tables meanwhile wait for a second at most.

    Raises:
        StoreRefused: it was made before the first release.
        StoreUnavailable: a table was in use for ten minutes; nothing was changed.
    """
    await _migrate(url, partial(_up, to=revision))


async def downgrade(url: str, revision: str) -> None:
    """
    Bring a store down to a revision, ``base`` for none; data of later revisions is lost.

    Raises:
        StoreRefused: its schema is not newer than that one, or newer than this code.
        StoreUnavailable: as above.
    """
    await _migrate(url, partial(_down, to=revision))


def lost_by_downgrade(revision: str) -> Sequence[str]:
    """Return which money records a store loses by a downgrade to a revision, or ``base``."""
    return [what for what, first in _HOLDS.items() if revision == "base" or revision < first]


async def revision_of(database: Database) -> str | None:
    """Return the revision an opened database is at; None, and raises, as ``current`` does."""
    async with database.reading() as connection:
        return await connection.run_sync(_revision)


async def _migrate(url: str, run: Callable[[Connection], None]) -> None:
    """Run in its own transaction, repeatedly until no lock is in the way."""
    database = open_database(url, _PATIENT)
    turn = _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())
    until = time.monotonic() + _LONGEST_S
    try:
        async with turn:
            while (waits_for := await _tried(database, run, until)) is not None:
                _log.warning("the schema waits until nobody uses a table: %s", waits_for)
                await asyncio.sleep(_PAUSE_S)
    finally:
        await database.close()


async def _tried(database: Database, run: Callable[[Connection], None], until: float) -> str | None:
    """
    Run in one transaction; return the statement that met a lock, None when done.

    Raises:
        StoreUnavailable: the database does not answer, or it is later than ``until``.
    """
    try:
        async with database.writing() as connection:
            if connection.dialect.name == "postgresql":
                await connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
                await connection.execute(_BRIEFLY)
            await connection.run_sync(run)
    except StoreUnavailable as problem:
        statement = _gave_way(problem.__cause__)
        if statement is None or time.monotonic() >= until:
            raise
        return statement
    return None


def _gave_way(cause: BaseException | None) -> str | None:
    """Return the statement that met a lock; None for every other failure."""
    if not isinstance(cause, DBAPIError) or getattr(cause.orig, "sqlstate", None) not in _GAVE_WAY:
        return None
    return " ".join(str(cause.statement).split())[:_LONGEST_TEXT]  # without values of rows


def _up(connection: Connection, to: str) -> None:
    """Skip a newer release's schema; its older migrations are ours."""
    if _revision(connection) in {None, *REVISIONS}:
        _run(connection, "upgrade", to)


def _down(connection: Connection, to: str) -> None:
    revision = _revision(connection)
    if revision not in {None, *REVISIONS}:
        raise StoreRefused(_too_new(revision, "use the pixgate that made it"))
    places = {None: 0, "base": 0} | {each: place for place, each in enumerate(REVISIONS, 1)}
    if places[to] > places[revision]:
        problem = f"The store has {_named(revision)}: {to} is not older."
        raise StoreRefused(problem)
    if places[to] < places[revision]:
        _run(connection, "downgrade", to)


def _run(connection: Connection, direction: str, revision: str) -> None:
    from alembic import command  # noqa: PLC0415 - see the module
    from alembic.config import Config  # noqa: PLC0415 - see the module
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - see the module

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", _SCRIPTS)
    getattr(command, direction)(config, revision)
    reached = _revision(connection)
    if reached is None:
        return
    script = ScriptDirectory.from_config(config).get_revision(reached)
    connection.execute(update(stamps).values(compatible_with=script.module.compatible_with))


def _revision(connection: Connection) -> str | None:
    seen = inspect(connection)
    if not seen.has_table(_VERSION.name):
        if seen.has_table(_BEFORE):
            raise StoreRefused(_of_before(connection.dialect.name))
        return None
    found: str | None = connection.execute(select(_VERSION.c.version_num)).scalar_one_or_none()
    return found


async def is_older(database: Database, environment: Environment) -> bool:
    """
    Return whether a store of ours has an older schema than this code, or none yet.

    Newer ones are accepted from ours to the newest that says it is compatible with ours.

    Raises:
        StoreRefused: it is of the other environment, or of a schema that is too new.
    """
    revision = await revision_of(database)
    if revision is None:
        return True
    if revision not in REVISIONS:
        _check_window(revision, await compatible_with(database))
    check_environment(await read_stamp(database), environment)
    return revision in REVISIONS[:-1]


def _check_window(revision: str, oldest: str | None) -> None:
    if oldest not in REVISIONS:
        raise StoreRefused(_too_new(revision, f"it needs a pixgate of {oldest or revision}"))


def _too_new(revision: str | None, what_to_do: str) -> str:
    return (
        f"The store's schema {revision} is newer than this pixgate's {REVISIONS[-1]}: {what_to_do}."
    )


def outdated(revision: str | None) -> str:
    """Return the message for a store with an older schema, with the remedy."""
    return f"The store has {_named(revision)}, {REVISIONS[-1]} is needed: run `pixgate db upgrade`."


def _of_before(dialect: str) -> str:
    if dialect == "sqlite":
        return "The store was made before the first release: `make clean` removes it, or delete it."
    return "The database was made before the first release: create a new one and name that."


def _named(revision: str | None) -> str:
    return "no schema yet" if revision is None else f"the schema {revision}"
