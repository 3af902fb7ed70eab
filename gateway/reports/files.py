"""Files that are read page by page, and the limit of concurrent files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar
from weakref import WeakSet

from gateway.core import errors
from gateway.core.errors import ServiceError

Item = TypeVar("Item")
After = TypeVar("After")

ROWS_A_PAGE: Final = 200
"""Rows that are read and written at once: some milliseconds in which nobody else has a turn."""
MOST_OF_A_PERSON: Final = 2
"""Files that one person reads at once: one is looked at while another is fetched."""
MOST: Final = 8
"""Files that are read at once in a process; each asks the store all the time."""
_COME_BACK: Final = {"Retry-After": "5"}


@dataclass(frozen=True, slots=True)
class DownloadPage(Generic[Item, After]):
    """Rows, and where the next page begins; None at the end."""

    items: Sequence[Item]
    after: After | None


@dataclass(frozen=True, slots=True)
class DownloadFile:
    """
    A file for download.

    Attributes:
        first: What it begins with.
        rest: What follows, piece by piece; None where ``first`` is all of it.
    """

    first: bytes
    rest: AsyncGenerator[bytes, None] | None = None


class Turn:
    """One file being read; the turn ends when it is no longer referenced."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Turns:
    """
    The files that this process reads now.

    A turn belongs to its reader, and ends with it.
    """

    _held: defaultdict[str, WeakSet[Turn]] = field(default_factory=lambda: defaultdict(WeakSet))

    def take(self, user_id: str) -> Turn:
        """
        Begin one more file for a user.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``: too many of theirs are
                being read, or of everybody's.
        """
        for each in [each for each, turns in self._held.items() if not turns]:
            del self._held[each]
        if len(self._held.get(user_id, ())) >= MOST_OF_A_PERSON:
            raise ServiceError(errors.TOO_MANY_REQUESTS, "downloads_of_person", _COME_BACK)
        if sum(len(each) for each in self._held.values()) >= MOST:
            raise ServiceError(errors.TOO_MANY_REQUESTS, "downloads", _COME_BACK)
        turn = Turn()
        self._held[user_id].add(turn)
        return turn


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadReader(Generic[Item, After]):
    """
    Reads one file.

    Attributes:
        read: Reads the page at a place, the first for None.
        write: Writes the rows of a page.
        turn: Held for as long as pages are left.
    """

    read: Callable[[After | None], Awaitable[DownloadPage[Item, After]]]
    write: Callable[[Sequence[Item]], bytes]
    turn: Turn

    async def file(self, head: bytes) -> DownloadFile:
        """Read the first page, so that its failure is refused; the others follow."""
        page = await self.read(None)
        first = head + self.write(page.items)
        return DownloadFile(first, None if page.after is None else self._rest(page.after))

    async def _rest(self, place: After | None) -> AsyncGenerator[bytes, None]:
        """Read page by page, on demand."""
        while place is not None:
            page = await self.read(place)
            yield self.write(page.items)
            place = page.after


async def in_turn(turn: Turn, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Hold a turn for as long as pieces are left."""
    async with aclosing(rest):
        async for piece in rest:
            yield piece
    del turn
