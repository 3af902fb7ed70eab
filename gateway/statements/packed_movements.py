"""Many movements in little memory, packed page by page."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Final

import msgspec

from gateway.banks.port.statements import Entry

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FASTEST: Final = 1
"""The level of compression: a tenth of the size, at some 10 MB in 50 ms."""
_PAGES_OPEN: Final = 16
"""Banks tell movements in order, or nearly: those next to each other share pages."""
_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(list[Entry])


class PackedMovements:
    """Movements, packed in about 80 bytes each."""

    def __init__(self) -> None:
        self._pages: list[bytes] = []
        self._page_of, self._row_of, self._at = array("l"), array("l"), array("q")

    def __len__(self) -> int:
        return len(self._at)

    def add(self, entries: Sequence[Entry]) -> None:
        """Add a page of the bank's."""
        page = len(self._pages)
        self._pages.append(zlib.compress(_encoder.encode(entries), _FASTEST))
        for row, entry in enumerate(entries):
            self._page_of.append(page)
            self._row_of.append(row)
            self._at.append((entry.created_at - _EPOCH) // _MICROSECOND)

    def oldest_first(self, many: int) -> Iterator[list[Entry]]:
        """
        Return all movements, oldest first, in groups.

        Movements of one instant are in reverse of the bank's order: banks list
        the newest first.
        """
        opened = lru_cache(maxsize=_PAGES_OPEN)(self._open)
        newest_first = sorted(range(len(self)), key=self._at.__getitem__, reverse=True)
        places = reversed(newest_first)
        while some := list(islice(places, many)):
            yield [opened(self._page_of[each])[self._row_of[each]] for each in some]

    def _open(self, page: int) -> list[Entry]:
        return _decoder.decode(zlib.decompress(self._pages[page]))
