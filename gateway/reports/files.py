"""Files that are read page by page."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from gateway.core.exports import Export

Item = TypeVar("Item")
After = TypeVar("After")

ROWS_A_PAGE: Final = 200
"""Rows that are read and written at once: some milliseconds in which nobody else has a turn."""


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
        first: The first bytes.
        rest: The further pieces; None where ``first`` is all of it.
    """

    first: bytes
    rest: AsyncGenerator[bytes, None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadReader(Generic[Item, After]):
    """
    Reads one file.

    Attributes:
        read: Reads the page at a place, the first for None.
        write: Writes the rows of a page.
        export: Takes the rows of each page before they are written, and holds the turn for as
            long as pages are left.
    """

    read: Callable[[After | None], Awaitable[DownloadPage[Item, After]]]
    write: Callable[[Sequence[Item]], bytes]
    export: Export

    async def file(self, head: bytes) -> DownloadFile:
        """
        Read the first page, so that its failure is refused; the others follow.

        The file is cut where the person may take no more rows; the reader sees that it is.
        """
        page = await self.read(None)
        await self.export.take(len(page.items))
        first = head + self.write(page.items)
        return DownloadFile(first, None if page.after is None else self._rest(page.after))

    async def _rest(self, place: After | None) -> AsyncGenerator[bytes, None]:
        """Read page by page, on demand."""
        while place is not None:
            page = await self.read(place)
            await self.export.take(len(page.items))
            yield self.write(page.items)
            place = page.after


async def held(export: Export, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Hold an export's turn for as long as pieces are left."""
    async with aclosing(rest):
        async for piece in rest:
            yield piece
    del export
