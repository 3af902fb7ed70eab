"""
A store in one SQLite file.

One connection writes, others read beside it. The file and SQLite's files next to it are for its
owner alone. Not for a network file system.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, ColumnElement, Connection, Insert, Table, and_, bindparam, event, tuple_
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio.engine import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from gateway.core.terms import folded
from gateway.store.kernel.database import Database, Limits
from gateway.store.kernel.prepared import EXECUTE_MANY, Found
from gateway.store.tables.texts import Folded

# Readers run beside the one writer; more only wait for the same disk.
_READERS = 4
# The file holds personal data and sealed secrets.
_OWNER_ONLY = 0o600
_AGAIN_S = 0.005
_ROOM = bytes(262_144)
"""As much as a batch of payouts writes."""
_WAL = "PRAGMA journal_mode = WAL"


def open_file(url: URL, limits: Limits) -> Database:
    """Open a file; it and its folder are created if missing."""
    file = Path(url.database or "")
    _make(file)
    if file.stat().st_size == 0:
        _prefer_wal(file, limits)
    return _database(url, limits)


def nowhere(limits: Limits) -> Database:
    """Return a database that cannot be opened: nothing is below a file that is no folder."""
    return _database(URL.create("sqlite+aiosqlite", database=f"{os.devnull}/none"), limits)


def _database(url: URL, limits: Limits) -> Database:
    """Return a database; no connection is opened yet."""
    writer = _engine(url, limits, connections=1, writes=True)
    reader = _engine(url, limits, connections=min(_READERS, limits.pool_size), writes=False)
    return Database(
        writer=writer,
        reader=reader,
        insert_new=_insert_new,
        insert_or_change=_insert_or_change,
        among=_among,
        lend=reader.connect,
        one_of=_in_list,
        each_of=_each_of,
        bulk=EXECUTE_MANY,
        joins=False,
        commits_statements=False,
        writers=1,
        checkout_s=limits.checkout_s,
        whole_s=limits.whole_s,
        takes_writes=partial(_takes_writes, Path(url.database or "").parent),
    )


async def _takes_writes(folder: Path, connection: AsyncConnection) -> bool:
    """
    Write to the disk and a page of the file; False never, for what takes no writes fails.

    Only a write shows that the disk is full, and one of the file does not always: the journal
    takes pages where earlier ones were.
    """
    await asyncio.to_thread(_take_room, folder)
    version = (await connection.exec_driver_sql("PRAGMA user_version")).scalar_one()
    await connection.exec_driver_sql(f"PRAGMA user_version = {version}")
    return True


def _take_room(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as room:
        room.write(_ROOM)
        room.flush()


def _make(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # SQLite gives the journals it puts beside a file that file's mode. A file that exists is never
    # opened here: closing it would drop every lock this process holds on it (POSIX), and the next
    # process to let go of the store would delete the journal that this one goes on writing to.
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))


def _prefer_wal(file: Path, limits: Limits) -> None:
    """Switch a fresh file to WAL; two that do so at once refuse each other without waiting."""
    end = time.monotonic() + limits.busy_s
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        while True:
            try:
                connection.execute(_WAL)
                return
            except sqlite3.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(_AGAIN_S)


def _engine(url: URL, limits: Limits, *, connections: int, writes: bool) -> AsyncEngine:
    engine = create_async_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        # few that are busy: each has its own cache of pages
        pool_use_lifo=True,
        pool_timeout=limits.checkout_s,
        hide_parameters=True,
        # None: Python's driver begins no transaction by itself, and reads stand alone.
        connect_args={"timeout": limits.busy_s, "isolation_level": None},
        # A read has no transaction to undo when its connection is given back.
        skip_autocommit_rollback=not writes,
    )
    event.listen(engine.sync_engine, "connect", _settle)
    if writes:
        event.listen(engine.sync_engine, "begin", _begin)
    else:
        event.listen(engine.sync_engine, "connect", _only_read)
    return engine


def _settle(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    """Make a connection durable and strict; the driver has set the busy timeout already."""
    _execute(
        connection,
        _WAL,
        "PRAGMA synchronous = FULL",
        "PRAGMA foreign_keys = ON",
    )


def _only_read(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    _execute(connection, "PRAGMA query_only = ON")
    connection.create_function(Folded.name, 1, _folded)


def _folded(text: str | None) -> str | None:
    return None if text is None else folded(text)


def _execute(connection: DBAPIConnection, *statements: str) -> None:
    cursor = connection.cursor()
    try:
        for statement in statements:
            cursor.execute(statement)
    finally:
        cursor.close()


def _begin(connection: Connection) -> None:
    # At once: a transaction that becomes a writer later can meet a lock that no waiting resolves.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _insert_new(table: Table) -> Insert:
    # Of any key, not of the primary one alone: of two equal rows at the same time PostgreSQL may
    # meet the other unique index first, and would call that a failure.
    return insert(table).on_conflict_do_nothing()


def _insert_or_change(
    table: Table, changed: Mapping[str, object], where: ColumnElement[bool]
) -> Insert:
    key = list(table.primary_key)
    return insert(table).on_conflict_do_update(index_elements=key, set_=changed, where=where)


def _in_list(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column.in_(bindparam(name, expanding=True))


def _among(columns: Sequence[ColumnElement[object]], name: str) -> ColumnElement[bool]:
    # The pairs alone would be looked for in every row; each column by itself leads to the index.
    return and_(*_each_among(columns, name), tuple_(*columns).in_(bindparam(name, expanding=True)))


def _each_among(columns: Sequence[ColumnElement[Any]], name: str) -> Iterator[ColumnElement[bool]]:
    for number, column in enumerate(columns):
        yield _in_list(column, f"{name}_{number}")


def _each_of(found: Found, columns: Sequence[ColumnElement[Any]], name: str) -> Found:
    # More than was asked for, where values are mixed: what leads to the index is the same.
    return found.where(*_each_among(columns, name))
