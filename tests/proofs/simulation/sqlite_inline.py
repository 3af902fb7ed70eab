"""
SQLite without a thread: what the driver does in its own, is done here between two awaits.

The product's engines, pools, statements and settings are used as they are; only the connection
below them is another. It waits for a lock in the loop's time, and dies when its process is killed.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from random import Random
from typing import Self, TypeVar

from sqlalchemy import event

from gateway.store.kernel.database import Database

Done = TypeVar("Done")

_BUSY_S = 5.0
_AGAIN_S = 0.01
_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


class Fault(Enum):
    """When a statement or a commit fails, seen from the database."""

    BEFORE = "before"
    DURING = "during"
    AFTER = "after"


class Disk:
    """
    A database file in memory where there is such a file system; what is committed is kept.

    Attributes:
        read: A connection beside all others, for those who only watch.
    """

    def __init__(self, content: bytes) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="simulated-", dir=_MEMORY)
        self._file = Path(self._folder.name) / "store.db"
        self._file.write_bytes(content)
        self.read = self.connect()

    def connect(self) -> sqlite3.Connection:
        raw = sqlite3.connect(self._file, timeout=0, isolation_level=None)
        # a crash here is one of the process: what it committed stays, synchronous or not
        raw.execute("PRAGMA synchronous = OFF")
        return raw

    def copied(self) -> sqlite3.Connection:
        copy = sqlite3.connect(":memory:", isolation_level=None)
        self.read.backup(copy)
        return copy

    def restore(self, copy: sqlite3.Connection) -> None:
        """Become the backup; no other connection may be open."""
        copy.backup(self.read)

    def close(self) -> None:
        self.read.close()
        self._folder.cleanup()


class Client:
    """
    A process's side of the database: its connections, and what goes wrong with them.

    Attributes:
        fault: Draws what fails next; told the statement's first word.
        latency: Draws how long an answer takes, in seconds.
        committed: Called right after every commit.
    """

    def __init__(self, disk: Disk, chance: Random) -> None:
        self.disk, self.chance = disk, chance
        self.fault: Callable[[str], Fault | None] = lambda _word: None
        self.latency: Callable[[], float] = lambda: 0.0
        self.committed: Callable[[], None] = lambda: None
        self._open: list[InlineConnection] = []

    def connect(self) -> InlineConnection:
        opened = InlineConnection(self.disk.connect(), self)
        self._open.append(opened)
        return opened

    def kill(self) -> None:
        """End every connection like a dying process: open transactions are rolled back."""
        for connection in self._open:
            connection.stop()
        self._open.clear()


class Slot:
    """Engines of one node; they outlive its processes, so that statements are compiled once."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.client: Client | None = None
        for engine in (database.writer, database.reader):
            event.listen(engine.sync_engine, "do_connect", self._connect)

    def plug(self, client: Client) -> None:
        """Start with empty pools over another client."""
        self.client = client
        for engine in (self.database.writer, self.database.reader):
            engine.sync_engine.dispose(close=False)

    def _connect(self, dialect, _record, _args, _options):
        return dialect.loaded_dbapi.connect(async_creator_fn=self._opened)

    async def _opened(self) -> InlineConnection:
        assert self.client is not None
        return self.client.connect()


class InlineConnection:
    """What the dialect expects of an ``aiosqlite.Connection``."""

    def __init__(self, raw: sqlite3.Connection, client: Client) -> None:
        self._connection: sqlite3.Connection | None = raw
        self.client = client
        self.isolation_level = None

    @property
    def raw(self) -> sqlite3.Connection:
        if self._connection is None:
            problem = "closed with its process"
            raise sqlite3.OperationalError(problem)
        return self._connection

    @property
    def in_transaction(self) -> bool:
        return self._connection is not None and self._connection.in_transaction

    def cursor(self) -> InlineCursor:
        return InlineCursor(self)

    async def create_function(self, *args: object, **kwargs: object) -> None:
        self.raw.create_function(*args, **kwargs)  # type: ignore[arg-type]

    async def commit(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            await self.do("COMMIT", self._commit)

    async def rollback(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            await asyncio.sleep(0)
            if self._connection is not None:
                self._connection.rollback()

    async def close(self) -> None:
        self.stop()

    def stop(self) -> None:
        raw, self._connection = self._connection, None
        if raw is not None:
            raw.close()

    async def do(self, word: str, work: Callable[[], Done]) -> Done:
        """Do something to the database, with an await before and one after."""
        try:
            await asyncio.sleep(self.client.latency())
        except asyncio.CancelledError:
            # the driver's thread may have begun by then, and does not stop for that
            if self.client.chance.random() < 0.5:
                with suppress(sqlite3.Error):
                    work()
            raise
        fault = self.client.fault(word)
        if fault is Fault.BEFORE:
            raise _failure(fault)
        if fault is Fault.DURING and word == "COMMIT":
            self.raw.rollback()
            raise _failure(fault)
        done = await self._unlocked(work)
        if fault is not None:
            raise _failure(fault)
        await asyncio.sleep(self.client.latency())
        return done

    async def _unlocked(self, work: Callable[[], Done]) -> Done:
        loop = asyncio.get_running_loop()
        until, again_s = loop.time() + _BUSY_S, _AGAIN_S
        while True:
            try:
                return work()
            except sqlite3.OperationalError as problem:
                if "locked" not in str(problem) or loop.time() > until:
                    raise
            await asyncio.sleep(again_s * (1 + self.client.chance.random()))
            again_s *= 2

    def _commit(self) -> None:
        self.raw.commit()
        self.client.committed()


class InlineCursor:
    """One statement, and what it found."""

    def __init__(self, connection: InlineConnection) -> None:
        self._connection = connection
        self._rows: list[tuple[object, ...]] = []
        self.description: Sequence[object] | None = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    async def close(self) -> None:
        """Let go of nothing: the rows are there already."""

    async def execute(self, statement: str, parameters: Sequence[object] = ()) -> InlineCursor:
        word = statement.split(None, 1)[0]
        if word == "PRAGMA":
            if "synchronous" in statement:
                return self
            self._execute(statement, parameters)
        else:
            await self._connection.do(word, lambda: self._execute(statement, parameters))
        return self

    async def executemany(
        self, statement: str, parameters: Sequence[Sequence[object]]
    ) -> InlineCursor:
        word = statement.split(None, 1)[0]
        await self._connection.do(word, lambda: self._execute_many(statement, parameters))
        return self

    async def fetchall(self) -> list[tuple[object, ...]]:
        return self._rows

    def _execute(self, statement: str, parameters: Sequence[object]) -> None:
        done = self._connection.raw.execute(statement, parameters)
        self._rows = done.fetchall()
        self.description = done.description
        self.rowcount, self.lastrowid = done.rowcount, done.lastrowid
        done.close()

    def _execute_many(self, statement: str, parameters: Sequence[Sequence[object]]) -> None:
        done = self._connection.raw.executemany(statement, parameters)
        self._rows, self.description, self.rowcount = [], None, done.rowcount
        done.close()


def _failure(fault: Fault) -> sqlite3.OperationalError:
    return sqlite3.OperationalError(f"disk I/O error ({fault.value})")
