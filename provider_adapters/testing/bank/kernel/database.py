"""The bank's SQLite file: one connection, durable at every commit."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import DataclassInstance

Value: TypeAlias = str | int | None
# Like JSON: the schema is STRICT, and each reader knows the types of its columns.
Row: TypeAlias = dict[str, Any]
Record = TypeVar("Record")

_JSON = frozenset({"payer", "to"})
"""Columns that hold a JSON object."""

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
        """
        Open the file; create it and its tables when missing. Nobody else may read it.

        Raises:
            OSError: It was made before the statement was the ledger.
        """
        Path(path).touch(mode=0o600)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.row_factory = _as_dict
        for pragma in _PRAGMAS:
            self._connection.execute(pragma)
        if self.one("SELECT 1 FROM sqlite_schema WHERE name = 'ledger'"):
            message = f"{path} was made by an older simulated bank: delete it"
            raise OSError(message)
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

    def insert(self, table: str, record: DataclassInstance, **others: object) -> int:
        """Insert the fields of a record that have a column, and others; return the row's number."""
        columns = self.all("SELECT name FROM pragma_table_info(?)", (table,))
        given = {**asdict(record), **others}
        values = {each["name"]: given[each["name"]] for each in columns if each["name"] in given}
        if values.get("seq") == 0:
            del values["seq"]  # not stored yet
        names, places = '", "'.join(values), ", ".join("?" * len(values))
        sql = f'INSERT INTO {table} ("{names}") VALUES ({places})'  # noqa: S608 - names of the schema
        return self.run(sql, [_stored(value) for value in values.values()])

    def update(self, table: str, seq: int, **values: Value) -> None:
        """Change columns of a row."""
        changes = ", ".join(f"{name} = ?" for name in values)
        sql = f"UPDATE {table} SET {changes} WHERE seq = ?"  # noqa: S608 - names of the schema
        self.run(sql, (*values.values(), seq))

    def record(self, kind: type[Record], sql: str, values: Sequence[Value] = ()) -> Record | None:
        """Return the first row, if any, as a record: a field for the column of its name."""
        row = self.one(sql, values)
        return None if row is None else msgspec.convert(row, kind, strict=False)

    def records(self, kind: type[Record], sql: str, values: Sequence[Value] = ()) -> list[Record]:
        """Return all rows as records."""
        return msgspec.convert(self.all(sql, values), list[kind], strict=False)  # type: ignore[valid-type]

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
    named = zip((column[0] for column in cursor.description), row, strict=True)
    return {
        name: json.loads(str(value)) if name in _JSON and value else value for name, value in named
    }


def _stored(value: object) -> Value:
    if value is None or isinstance(value, str | int):
        return value
    return msgspec.json.encode(value).decode()
