"""
Lists of banks in pages, each made into a ``Page`` with the cursor of the next.

A cursor is a text that comes back unchanged with the next call; nothing is remembered between
two calls. A list must not end too early: a bank may send fewer items than it was asked for,
and only an empty page, or its own word, says that it is over.
"""

from __future__ import annotations

import hashlib
from base64 import b85encode
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime, timedelta, tzinfo
from itertools import accumulate
from typing import Final, TypeVar

import msgspec

from gateway.banks.port.providers import BadReply, Page, Reason
from gateway.core.windows import Window, local_time

Item = TypeVar("Item")
_BESIDE: Final = " "
# 64 bits of a name, so that two names of one page are never taken for one.
_MARK: Final = 10
# As many as a cursor holds; more items than these do not come in between two pages.
_REMEMBERED: Final = 200
ReadPage = Callable[[str | None], Awaitable[Page[Item]]]
"""Reads one page by its cursor, None for the first; newest first."""
MOST_WHOLE: Final = 1000
"""Items of a short list; the central bank allows an account 20 keys."""


def number_of(cursor: str | None) -> int:
    """Return the page to request, or the number of items to skip: 0 for the first call."""
    return int(cursor.partition(_BESIDE)[0]) if cursor else 0


def numbered(items: Sequence[Item], cursor: str | None, pages: int) -> Page[Item]:
    """Make a page of a list whose ``pages`` are counted from 0 (API Pix)."""
    after = number_of(cursor) + 1
    return Page(items=items, next_cursor=str(after) if after < pages else None)


def skipped(items: Sequence[Item], cursor: str | None, *, more: bool | None) -> Page[Item]:
    """
    Make a page of a list that is read by skipping items.

    Args:
        items: The items received; fewer than requested need not be the end.
        cursor: The cursor that this page was requested with.
        more: Whether the bank reports a further page; None if unreported: an empty page is the end.
    """
    goes_on = bool(items) and more is not False
    return Page(items=items, next_cursor=str(number_of(cursor) + len(items)) if goes_on else None)


def unrepeated(page: Page[Item], cursor: str | None, name: Callable[[Item], str]) -> Page[Item]:
    """
    Leave out items of the page before: for a list that is ``numbered`` or ``skipped``.

    An item that comes in between two pages moves all that follow by one place, so that the
    next page begins with the former last item.

    Args:
        page: As ``numbered`` or ``skipped`` made it.
        cursor: The one this page was asked with; it remembers the page before.
        name: Returns the identity of an item, such as the bank's id.
    """
    remembered = (cursor or "").partition(_BESIDE)[2]
    before = {remembered[at : at + _MARK] for at in range(0, len(remembered), _MARK)}
    marks = [_mark(name(item)) for item in page.items]
    fresh = [item for item, mark in zip(page.items, marks, strict=True) if mark not in before]
    if page.next_cursor is None:
        return Page(items=fresh, next_cursor=None)
    beside = "".join(marks[-_REMEMBERED:])
    return Page(items=fresh, next_cursor=f"{page.next_cursor}{_BESIDE}{beside}")


def _mark(name: str) -> str:
    return b85encode(hashlib.sha256(name.encode()).digest()[:8]).decode()


def continued(items: Sequence[Item], cursor: str | None, following: str | None) -> Page[Item]:
    """
    Make a page of a list that the bank itself gives cursors for.

    Raises:
        BadReply: The next cursor is the one just used: the list would never end.
    """
    if following and following == cursor:
        raise BadReply(Reason.WRONG_SHAPE)
    return Page(items=items, next_cursor=following or None)


async def whole(read: ReadPage[Item], most: int = MOST_WHOLE) -> list[Item]:
    """
    Read a list to its end that is short by its nature, such as the keys of an account.

    Raises:
        BadReply: It has more items than such a list can have, or its pages do not advance.
    """
    items: list[Item] = []
    cursor: str | None = None
    while len(items) <= most:
        page = await read(cursor)
        items += page.items
        if page.next_cursor is None:
            return items
        if page.next_cursor == cursor:
            break
        cursor = page.next_cursor
    raise BadReply(Reason.WRONG_SHAPE)


def days(window: Window, zone: tzinfo) -> tuple[date, date]:
    """
    Return the first and last local day that a window of UTC days touches.

    For a bank that takes days of its own zone: request these, then keep items ``within``.
    """
    last = window.end - timedelta(microseconds=1)
    return local_time(window.start, zone).date(), local_time(last, zone).date()


def within(page: Page[Item], window: Window, moment: Callable[[Item], datetime]) -> Page[Item]:
    """Keep items inside the window; the cursor of the list is unchanged."""
    kept = [item for item in page.items if window.start <= moment(item) < window.end]
    return Page(items=kept, next_cursor=page.next_cursor)


class _Place(msgspec.Struct, array_like=True):
    """
    Where one of several lists stands: the cursor of its page, and how many items were taken.

    Attributes:
        last: The mark of the item that was given out last; empty where nothing is marked.
    """

    cursor: str | None = None
    taken: int = 0
    over: bool = False
    last: str = ""


_PLACES: Final = msgspec.json.Decoder(list[_Place])


async def merged(
    lists: Sequence[ReadPage[Item]],
    cursor: str | None,
    moment: Callable[[Item], datetime],
    most: int | None = None,
    name: Callable[[Item], str] | None = None,
) -> Page[Item]:
    """
    Merge lists, each newest first, into one: a page of each at a time.

    Items older than the end of the shortest page wait for the next call, which reads that
    page again; so do items beyond ``most``. Equal instants come from the first list first.
    The lists are read one after the other: an error leaves nothing under way. ``name`` tells an
    item from every other, for lists by position: they move when an item comes in meanwhile.
    """
    places = _PLACES.decode(cursor) if cursor else [_Place() for _ in lists]
    pages = [await _page(read, place) for read, place in zip(lists, places, strict=True)]
    places = [_moved(place, page, name) for place, page in zip(places, pages, strict=True)]
    fresh = _fresh(pages, places, moment)
    counts = _shares(fresh, moment, most)
    items = [item for each, count in zip(fresh, counts, strict=True) for item in each[:count]]
    items.sort(key=moment, reverse=True)  # stable: the first list first
    following = [
        _after(page, place, place.taken + count, name)
        for page, place, count in zip(pages, places, counts, strict=True)
    ]
    over = all(place.over for place in following)
    return Page(items=items, next_cursor=None if over else msgspec.json.encode(following).decode())


def _moved(place: _Place, page: Page[Item], name: Callable[[Item], str] | None) -> _Place:
    """Continue after the item returned last, wherever it is now."""
    if name is None or not place.last:
        return place
    marks = [_mark(name(item)) for item in page.items]
    if place.last not in marks:
        return place
    return msgspec.structs.replace(place, taken=marks.index(place.last) + 1)


def _fresh(
    pages: Sequence[Page[Item]], places: Sequence[_Place], moment: Callable[[Item], datetime]
) -> Sequence[Sequence[Item]]:
    """Return each page's items not yet returned, and not older than items to come."""
    ends = [moment(page.items[-1]) for page in pages if page.items and page.next_cursor]
    safe = max(ends, default=None)
    fresh: list[Sequence[Item]] = []
    for page, place in zip(pages, places, strict=True):
        fit = [safe is None or moment(item) >= safe for item in page.items]
        taken = max([place.taken, *(number for number, fits in enumerate(fit, 1) if fits)])
        fresh.append(page.items[place.taken : taken])
    return fresh


def _shares(
    fresh: Sequence[Sequence[Item]], moment: Callable[[Item], datetime], most: int | None
) -> Sequence[int]:
    """Return how many items of each list are among the ``most`` newest; none is skipped."""
    if most is None:
        return [len(each) for each in fresh]
    ranks: list[tuple[datetime, int]] = []
    for which, each in enumerate(fresh):
        # A list that is out of order ranks no item before one that it shows earlier.
        moments = accumulate(map(moment, each), min)
        ranks += [(at, which) for at in moments]
    ranks.sort(key=lambda rank: rank[0], reverse=True)
    chosen = [which for _, which in ranks[:most]]
    return [chosen.count(which) for which in range(len(fresh))]


async def _page(read: ReadPage[Item], place: _Place) -> Page[Item]:
    return Page(items=(), next_cursor=None) if place.over else await read(place.cursor)


def _after(
    page: Page[Item], place: _Place, taken: int, name: Callable[[Item], str] | None
) -> _Place:
    """Return the position in a list after ``taken`` items of this page."""
    last = _mark(name(page.items[taken - 1])) if name and 0 < taken <= len(page.items) else ""
    last = last or place.last
    if taken < len(page.items):
        return _Place(place.cursor, taken, last=last)
    return _Place(page.next_cursor, over=page.next_cursor is None, last=last)
