"""Lists by cursor or by position, newest first; the window excludes its end."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from provider_adapters.testing.bank.kernel import clock, refusals

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.database import Database

Item = TypeVar("Item")

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

    def values(self, account_id: str) -> tuple[str | int, ...]:
        """Return the parameters of a list statement; the limit is one row more than requested."""
        return (account_id, self.since, self.until, *self.before, self.limit + 1, self.skip)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items, and the cursor of the next page; None on the last one."""

    items: list[Item]
    cursor: str | None


_INSTANTS: Final = {
    "statement": "at",
    "payments": "at",
    "payouts": "created_at",
    "refunds": "created_at",
}


def count(database: Database, table: str, account_id: str, wanted: Slice) -> int:
    """Count what a window holds, whatever the page."""
    at = _INSTANTS[table]
    row = database.one(
        f"SELECT count(*) AS n FROM {table}"  # noqa: S608 - names of this module only
        f" WHERE account_id = ? AND {at} >= ? AND {at} < ?",
        (account_id, wanted.since, wanted.until),
    )
    return int(row["n"]) if row else 0


def read_slice(query: Mapping[str, str]) -> Slice:
    """
    Read ``de``, ``ate``, ``limite`` and ``cursor``.

    Raises:
        Refusal: ``INVALID_REQUEST`` when one of them is not read_document.
    """
    limit = query.get("limite", str(_DEFAULT_LIMIT))
    if not _LIMIT.fullmatch(limit) or not 1 <= int(limit) <= _LARGEST_LIMIT:
        problem = f"limite is 1 to {_LARGEST_LIMIT}"
        raise refusals.invalid(problem)
    return Slice(
        since=clock.read(query["de"]) if "de" in query else -_END_OF_TIME,
        until=clock.read(query["ate"]) if "ate" in query else _END_OF_TIME,
        limit=int(limit),
        before=_read_cursor(query["cursor"]) if "cursor" in query else Slice().before,
    )


def cut(items: Sequence[Item], places: Sequence[tuple[int, int]], limit: int) -> Page[Item]:
    """Cut off the extra row; its presence means that there is a next page."""
    more = len(items) > limit
    return Page(list(items[:limit]), _write_cursor(places[limit - 1]) if more else None)


def _write_cursor(place: tuple[int, int]) -> str:
    return base64.urlsafe_b64encode(f"{place[0]}:{place[1]}".encode()).decode()


def _read_cursor(text: str) -> tuple[int, int]:
    problem = "cursor is taken from an answer as it is"
    try:
        place = _PLACE.fullmatch(base64.urlsafe_b64decode(text).decode("ascii"))
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise refusals.invalid(problem) from error
    if place is None:
        raise refusals.invalid(problem)
    return int(place[1]), int(place[2])
