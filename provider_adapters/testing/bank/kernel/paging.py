"""Lists by cursor or by position, newest first; the window excludes its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from provider_adapters.testing.bank.kernel import clock, refusals

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books

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
        select: What makes the records of the table, without condition.
        at: The column, and the field, of their instants.
        what: One of them, in refusals.
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
        """Return what finds an account's first record by a column, and raises ``NOT_FOUND``."""
        return lambda books, account_id, value: refusals.found(
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
    refusals.require(text.isascii() and text.isdigit(), f"{name} is a number")
    return int(text)


def read_slice(query: Mapping[str, str]) -> Slice:
    """
    Read ``de``, ``ate``, ``limite`` and ``cursor``.

    Raises:
        Refusal: ``INVALID_REQUEST`` when one of them cannot be read.
    """
    limit = read_number(query, "limite", _DEFAULT_LIMIT)
    refusals.require(1 <= limit <= _LARGEST_LIMIT, f"limite is 1 to {_LARGEST_LIMIT}")
    place = _PLACE.fullmatch(query.get("cursor", f"{_END_OF_TIME}:{_END_OF_TIME}"))
    if place is None:
        problem = "cursor is taken from an answer as it is"
        raise refusals.invalid(problem)
    return Slice(
        since=clock.read(query["de"]) if "de" in query else -_END_OF_TIME,
        until=clock.read(query["ate"]) if "ate" in query else _END_OF_TIME,
        limit=limit,
        before=(int(place[1]), int(place[2])),
    )
