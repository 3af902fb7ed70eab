"""Date windows, local days of Brazil, and pages of lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Generic, TypeVar
from zoneinfo import ZoneInfo

Item = TypeVar("Item")
# The contract's bounds (parts 2 and 8): a longer window is refused, a larger limit is cut.
LONGEST_DAYS = 90
LARGEST_LIMIT = 100
DEFAULT_LIMIT = 25
# Databases count in signed 64 bits; a page far behind the end is empty, not an error.
_LARGEST_OFFSET = 2**62


@dataclass(frozen=True, slots=True)
class Window:
    """
    Whole UTC days from ``init`` to ``ends``, both included, at most 90.

    Source: contract part 8.
    """

    init: date
    ends: date

    def __post_init__(self) -> None:
        """Refuse a window that runs backwards or is too long."""
        if not timedelta(0) <= self.ends - self.init < timedelta(days=LONGEST_DAYS):
            problem = "a window has 1 to 90 days"
            raise ValueError(problem)

    @property
    def start(self) -> datetime:
        """The first instant inside."""
        return datetime(self.init.year, self.init.month, self.init.day, tzinfo=UTC)

    @property
    def end(self) -> datetime:
        """The first instant after; the last day of the calendar ends a microsecond early."""
        try:
            after = self.ends + timedelta(days=1)
        except OverflowError:
            return datetime.max.replace(tzinfo=UTC)
        return datetime(after.year, after.month, after.day, tzinfo=UTC)

    def utc_days(self) -> Iterator[Window]:
        """Yield the windows of UTC days for bank queries, newest first."""
        yield self


LOCAL: Final = ZoneInfo("America/Sao_Paulo")
"""The time of Brasilia, which banks print and people read; what is stored and sent is UTC."""


def local_time(at: datetime, zone: tzinfo = LOCAL) -> datetime:
    """
    Return an instant in the time of Brasilia, or of another zone.

    One of the calendar's first or last hours that has no name there is returned as it is.
    """
    try:
        return at.astimezone(zone)
    except OverflowError:  # a bank that has no time for something says year 1
        return at


def day_before(day: date) -> date:
    """Return the day before; the calendar's first one has none and is returned itself."""
    return day if day == date.min else day - timedelta(days=1)


def day_after(day: date) -> date:
    """Return the day after; the calendar's last one has none and is returned itself."""
    return day if day == date.max else day + timedelta(days=1)


def written(at: date, form: str) -> str:
    """Write a day or an instant as ``strftime`` does, the year with four digits everywhere."""
    return at.strftime(form.replace("%Y", f"{at.year:04}"))


def local_start(day: date) -> datetime:
    """
    Return the first instant of a local day, in UTC.

    The calendar's last day, whose midnight UTC cannot name, begins with UTC's own.
    """
    try:
        return datetime.combine(day, time(), LOCAL).astimezone(UTC)
    except OverflowError:
        return datetime.combine(day, time(), UTC)


def local_end(day: date) -> datetime:
    """Return the first instant after a local day; the calendar's last one ends with the clock."""
    if day == date.max:
        return datetime.max.replace(tzinfo=UTC)
    return local_start(day + timedelta(days=1))


class LocalWindow(Window):
    """Whole days of Brasilia, as people mean them; otherwise as ``Window``."""

    __slots__ = ()

    @property
    def start(self) -> datetime:
        """The first instant inside."""
        return local_start(self.init)

    @property
    def end(self) -> datetime:
        """The first instant after."""
        return local_end(self.ends)

    def utc_days(self) -> Iterator[Window]:
        """Yield the touched UTC days: one more, which may be too many for a window."""
        after = day_after(self.ends)
        if (after - self.init).days < LONGEST_DAYS:
            yield Window(self.init, after)
        else:
            yield Window(after, after)
            yield Window(self.init, self.ends)


@dataclass(frozen=True, slots=True)
class Paging:
    """One page: ``page`` counts from 1, ``limit`` is the size used (at most 100)."""

    page: int
    limit: int

    @property
    def offset(self) -> int:
        """Number of items before this page, bounded to a database's integers."""
        return min((self.page - 1) * self.limit, _LARGEST_OFFSET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Generic[Item]):
    """One page of a list, and how many items it has in all."""

    items: Sequence[Item]
    paging: Paging
    total: int


@dataclass(frozen=True, slots=True)
class Search:
    """Search parameters that all lists share."""

    window: Window
    paging: Paging


@dataclass(frozen=True, slots=True)
class PageStart:
    """Position of an item in a list ordered by instant, then by id."""

    at: datetime
    id: str


@dataclass(frozen=True, slots=True)
class Keyset:
    """
    One page of a list that is too long to be counted.

    ``after`` is the last item of the page before, None for the first page.
    """

    limit: int
    after: PageStart | None = None
