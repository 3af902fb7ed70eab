"""Lists by cursor or by position, newest first; the window excludes its end."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from provider_adapters.testing.bank.kernel import clock, refusals

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books

_DEFAULT_LIMIT = 100
_LARGEST_LIMIT = 500
# Above every instant and row number, and within SQLite's integers.
_END_OF_TIME = 2**62
_LIMIT = re.compile(r"[0-9]{1,3}")
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
        select: What makes the records of the table, without condition.
        at: The column, and the field, of their instants.
        what: One of them, in refusals.
    """

    kind: type[Record]
    select: str
    name: str
    at: str
    what: str

    def find(self, books: Books, account_id: str, column: str, value: str) -> Record | None:
        """Find an account's first record with a value."""
        sql = self._where(column) + " LIMIT 1"
        return books.database.record(self.kind, sql, (account_id, value))

    def by(self, column: str) -> Callable[[Books, str, str], Record]:
        """Return what finds an account's first record by a column, and raises ``NOT_FOUND``."""

        def get(books: Books, account_id: str, value: str) -> Record:
            return refusals.found(self.find(books, account_id, column, value), self.what)

        return get

    def all_by(self, column: str) -> Callable[[Books, str, str], list[Record]]:
        """Return what lists an account's records with a value, oldest first."""
        sql = self._where(column)
        return lambda books, account_id, value: books.database.records(
            self.kind, sql, (account_id, value)
        )

    def of_account(self, books: Books, account_id: str) -> list[Record]:
        """Return an account's records, oldest first."""
        sql = f"{self.select} WHERE {self.name}.account_id = ? ORDER BY {self.name}.seq"
        return books.database.records(self.kind, sql, (account_id,))

    def _where(self, column: str) -> str:
        return (
            f"{self.select} WHERE {self.name}.account_id = ? AND {self.name}.{column} = ?"
            f" ORDER BY {self.name}.seq"
        )

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
            cursor = _write_cursor(getattr(items[-1], self.at), items[-1].seq)
        return Page(items, cursor, counted["n"] if counted else 0)


def read_number(query: Mapping[str, str], name: str, default: int) -> int:
    """Read a number of a query, without sign; raises ``INVALID_REQUEST``."""
    text = query.get(name, str(default))
    refusals.require(text.isascii() and text.isdigit(), f"{name} is a number")
    return int(text)


def read_slice(query: Mapping[str, str]) -> Slice:
    """
    Read ``de``, ``ate``, ``limite`` and ``cursor``.

    Raises:
        Refusal: ``INVALID_REQUEST`` when one of them cannot be read.
    """
    limit = query.get("limite", str(_DEFAULT_LIMIT))
    is_one = _LIMIT.fullmatch(limit) and 1 <= int(limit) <= _LARGEST_LIMIT
    refusals.require(is_one, f"limite is 1 to {_LARGEST_LIMIT}")
    return Slice(
        since=clock.read(query["de"]) if "de" in query else -_END_OF_TIME,
        until=clock.read(query["ate"]) if "ate" in query else _END_OF_TIME,
        limit=int(limit),
        before=_read_cursor(query["cursor"]) if "cursor" in query else Slice().before,
    )


def _write_cursor(at: int, seq: int) -> str:
    return base64.urlsafe_b64encode(f"{at}:{seq}".encode()).decode()


def _read_cursor(text: str) -> tuple[int, int]:
    problem = "cursor is taken from an answer as it is"
    try:
        place = _PLACE.fullmatch(base64.urlsafe_b64decode(text).decode("ascii"))
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise refusals.invalid(problem) from error
    if place is None:
        raise refusals.invalid(problem)
    return int(place[1]), int(place[2])
