"""
The bank's books: its SQLite file, durable at every commit, with its name, clock and randomness.

Amounts are centavos; instants are microseconds since 1970.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from provider_adapters.testing.bank import clock, messages
from provider_adapters.testing.bank.clock import BankClock, from_micros

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value: TypeAlias = str | int | None
# Like JSON: the schema is STRICT, and each reader knows the types of its columns.
Row: TypeAlias = dict[str, Any]
Stored = TypeVar("Stored")

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
        """Open the file; create it and its tables when missing. Only its owner may read it."""
        Path(path).touch(mode=0o600)
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

    def record(self, kind: type[Stored], sql: str, values: Sequence[Value] = ()) -> Stored | None:
        """Return the first row, if any, as a record: a field for the column of its name."""
        row = self.one(sql, values)
        return None if row is None else msgspec.convert(row, kind, strict=False)

    def records(self, kind: type[Stored], sql: str, values: Sequence[Value] = ()) -> list[Stored]:
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


_SUFFIX_LENGTH = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class BankIdentity:
    """
    The identity of a simulated bank.

    Attributes:
        name: Its name in the directory of keys.
        ispb: Eight characters; in every end-to-end id that it makes.
        compe: Three digits.
        host: The host of addresses in its BR Codes, such as ``pix.bank.example``.
    """

    name: str
    ispb: str
    compe: str
    host: str


SANDBOX: Final = BankIdentity(
    name="Banco Sandbox S.A.", ispb="99999999", compe="999", host="pix.sandbox.example"
)
"""No real bank has these numbers."""


_LIVE = "(until IS NULL OR until > ?)"
_KEPT = "SELECT * FROM dialect_state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """
    A value that a dialect keeps beside the books, under a kind and a name.

    Attributes:
        kind: The dialect's word, such as ``token``.
        account_id: Empty for a value of no account.
        until: Microseconds since 1970 at which the value ends; None: it stays.
    """

    kind: str
    name: str
    value: str
    account_id: str = ""
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """
    The bank's database with its name, clock and randomness.

    Attributes:
        random_hex: Returns this many random bytes as hexadecimal text.
        settle_after: From accepting a payout to settling it.
    """

    database: Database
    clock: BankClock
    random_hex: Callable[[int], str]
    settle_after: int
    identity: BankIdentity = SANDBOX

    def identifier(self, prefix: str) -> str:
        """Create an identifier: prefix and 16 hexadecimal characters."""
        return f"{prefix}_{self.random_hex(8)}"

    def e2e_id(self, at: int) -> str:
        """Create an end-to-end id: ``E``, ISPB, UTC minute, 11 characters (API Pix 2.9)."""
        suffix = self.random_hex(6)[-_SUFFIX_LENGTH:].upper()
        return f"E{self.identity.ispb}{from_micros(at):%Y%m%d%H%M}{suffix}"

    def keep(
        self, kind: str, name: str, value: str, account_id: str = "", until: int | None = None
    ) -> None:
        """Keep a value of a dialect's own, such as a token, in the place of a former one."""
        self.forget(kind, name)
        made = Kept(kind=kind, name=name, value=value, account_id=account_id, until=until)
        self.database.insert("dialect_state", made)

    def kept(self, kind: str, name: str) -> Kept | None:
        """Find a kept value that has not ended."""
        sql = f"{_KEPT} WHERE kind = ? AND name = ? AND {_LIVE}"
        return self.database.record(Kept, sql, (kind, name, self.clock.micros()))

    def kept_of(self, kind: str, account_id: str) -> list[Kept]:
        """Return an account's kept values of a kind, oldest first."""
        sql = f"{_KEPT} WHERE kind = ? AND account_id = ? AND {_LIVE} ORDER BY rowid"
        return self.database.records(Kept, sql, (kind, account_id, self.clock.micros()))

    def forget(self, kind: str, name: str) -> None:
        """Delete a kept value; safe to repeat."""
        self.database.run("DELETE FROM dialect_state WHERE kind = ? AND name = ?", (kind, name))


def open_books(
    path: str,
    *,
    now: Callable[[], datetime],
    random_hex: Callable[[int], str],
    settle_after_s: float,
    identity: BankIdentity = SANDBOX,
) -> Books:
    """Open the database file, creating it when missing."""
    return Books(
        database=Database(path),
        clock=BankClock(now),
        random_hex=random_hex,
        settle_after=round(settle_after_s * 1_000_000),
        identity=identity,
    )


_DEFAULT_LIMIT = 100
_LARGEST_LIMIT = 500
# Above every instant and row number.
_END_OF_TIME = 10**18 - 1
_PLACE = re.compile(r"(-?[0-9]{1,18}):([0-9]{1,18})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """
    Which part of a list is requested.

    Attributes:
        since: First instant included, microseconds since 1970.
        until: First instant excluded.
        before: Instant and row number of the last item already returned.
        skip: Items left out before the first, for lists by position.
    """

    since: int = -_END_OF_TIME
    until: int = _END_OF_TIME
    limit: int = _DEFAULT_LIMIT
    before: tuple[int, int] = (_END_OF_TIME, _END_OF_TIME)
    skip: int = 0


class _Numbered(Protocol):
    @property
    def seq(self) -> int: ...


Item = TypeVar("Item")
Record = TypeVar("Record", bound=_Numbered)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items, the cursor of the next page (None on the last one), and the window's total."""

    items: list[Item]
    cursor: str | None
    total: int = 0


@dataclass(frozen=True, slots=True)
class Table(Generic[Record]):
    """
    Records of every account.

    Attributes:
        select: The SELECT of the table's records, without condition.
        at: The column, and the field, of the records' instants.
        what: The name of a record, in refusals.
    """

    kind: type[Record]
    select: str
    name: str
    at: str
    what: str

    def all(self, books: Books, account_id: str, **equal: str) -> list[Record]:
        """Return an account's records with these values, oldest first."""
        wanted = {"account_id": account_id, **equal}
        where = " AND ".join(f"{self.name}.{column} = ?" for column in wanted)
        sql = f"{self.select} WHERE {where} ORDER BY {self.name}.seq"
        return books.database.records(self.kind, sql, tuple(wanted.values()))

    def find(self, books: Books, account_id: str, **equal: str) -> Record | None:
        """Find an account's first record with these values."""
        return next(iter(self.all(books, account_id, **equal)), None)

    def by(self, column: str) -> Callable[[Books, str, str], Record]:
        """Return a finder of an account's first record by a column; it raises ``NOT_FOUND``."""
        return lambda books, account_id, value: messages.found(
            self.find(books, account_id, **{column: value}), self.what
        )

    def of_key(self, books: Books, key: str | None) -> list[Record]:
        """Return all accounts' records, of one idempotency key or of all, oldest first."""
        where = "? IS NULL OR idempotency_key = ?"
        sql = f"{self.select} WHERE {where} ORDER BY {self.name}.seq"
        return books.database.records(self.kind, sql, (key, key))

    def read(self, books: Books, account_id: str, wanted: Slice) -> Page[Record]:
        """Read a page, newest first."""
        at, seq = f"{self.name}.{self.at}", f"{self.name}.seq"
        window = f"WHERE {self.name}.account_id = ? AND {at} >= ? AND {at} < ?"
        found = books.database.records(
            self.kind,
            f"{self.select} {window} AND ({at}, {seq}) < (?, ?)"
            f" ORDER BY {at} DESC, {seq} DESC LIMIT ? OFFSET ?",
            # One more than requested; its presence means that there is a next page.
            (account_id, wanted.since, wanted.until, *wanted.before, wanted.limit + 1, wanted.skip),
        )
        counted = books.database.one(
            f"SELECT count(*) AS n FROM {self.name} {window}",  # noqa: S608 - names of the schema
            (account_id, wanted.since, wanted.until),
        )
        items, cursor = found[: wanted.limit], None
        if len(found) > wanted.limit:
            cursor = f"{getattr(items[-1], self.at)}:{items[-1].seq}"
        return Page(items, cursor, counted["n"] if counted else 0)


def read_number(query: Mapping[str, str], name: str, default: int) -> int:
    """Read a number of a query, without sign; raises ``INVALID_REQUEST``."""
    text = query.get(name, str(default))
    messages.require(text.isascii() and text.isdigit(), f"{name} is a number")
    return int(text)


def read_slice(query: Mapping[str, str]) -> Slice:
    """
    Read ``de``, ``ate``, ``limite`` and ``cursor``.

    Raises:
        Refusal: ``INVALID_REQUEST`` when one of them cannot be read.
    """
    limit = read_number(query, "limite", _DEFAULT_LIMIT)
    messages.require(1 <= limit <= _LARGEST_LIMIT, f"limite is 1 to {_LARGEST_LIMIT}")
    place = _PLACE.fullmatch(query.get("cursor", f"{_END_OF_TIME}:{_END_OF_TIME}"))
    if place is None:
        problem = "cursor is taken from an answer as it is"
        raise messages.invalid(problem)
    return Slice(
        since=clock.read(query["de"]) if "de" in query else -_END_OF_TIME,
        until=clock.read(query["ate"]) if "ate" in query else _END_OF_TIME,
        limit=limit,
        before=(int(place[1]), int(place[2])),
    )
