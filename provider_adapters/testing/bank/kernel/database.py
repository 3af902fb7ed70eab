"""The bank's SQLite file: one connection, durable at every commit."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Value: TypeAlias = str | int | None
# Like JSON: the schema is STRICT, and each reader knows the types of its columns.
Row: TypeAlias = dict[str, Any]

_SCHEMA = Path(__file__).with_name("schema.sql")
# WAL with FULL: a commit survives kill -9 and a power cut.
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA busy_timeout=5000",
)


class Database:
    """
    Statements on one connection.

    They run on the event loop: a read takes microseconds and a commit one write
    to disk, so a thread would cost more than it saves.
    """

    def __init__(self, path: str) -> None:
        """Open the file; create it and its tables when missing. Nobody else may read it."""
        if not Path(path).exists():
            Path(path).touch(mode=0o600)
        for file in (Path(path + ending) for ending in ("", "-wal", "-shm")):
            if file.exists():  # perhaps made by a release that left it to the umask
                file.chmod(0o600)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.row_factory = _as_dict
        for pragma in _PRAGMAS:
            self._connection.execute(pragma)
        self._connection.executescript(_SCHEMA.read_text(encoding="ascii"))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything in the block together, or nothing after an exception."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Execute a change; return the number of an inserted row."""
        return self._connection.execute(sql, values).lastrowid or 0

    def one(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        """Return the first row, if any."""
        row: Row | None = self._connection.execute(sql, values).fetchone()
        return row

    def all(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Return all rows."""
        return self._connection.execute(sql, values).fetchall()

    def close(self) -> None:
        """Close the file for good."""
        self._connection.close()


def _as_dict(cursor: sqlite3.Cursor, row: tuple[object, ...]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}
