"""
The fast path: the usual response is read by one regular expression, all others by the parser.

A usual response can be read in one way only: HTTP/1.1, complete in one segment, one length
that is exact, no coding, no word of closing unless we close as well.
"""

from __future__ import annotations

import re
from collections.abc import ItemsView, Iterator, Mapping
from typing import Final

from multidict import CIMultiDict

from gateway.net.client.framing import HEADERS, LINE_BYTES
from gateway.net.client.messages import ProviderAnswer
from gateway.net.common.framing import LENGTH


def _usual(connection: bytes) -> re.Pattern[bytes]:
    """Match a usual response; ``connection`` is all that its Connection header may say."""
    # Headers that bound the body or the connection, except the one length.
    framing = (
        rb"(?i:content-length|transfer-encoding|content-encoding|upgrade|keep-alive"
        rb"|connection(?!:[\t ]*" + connection + rb"[\t ]*\r))"
    )
    field = rb"(?!" + framing + rb"[\t ]*:)[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t -~]*+\r\n"
    # Possessive (``++``, ``*+``): a response that does not match is given up at once, without
    # backtracking. Half of the headers may come before the length, half after it.
    fields = rb"(?:" + field + rb"){0,%d}+" % (HEADERS // 2 - 1)
    length = rb"(?i:content-length):[\t ]*+(%s)[\t ]*+\r\n" % LENGTH.pattern.encode()
    return re.compile(
        rb"HTTP/1\.1 (?!204|304)([2-5][0-9]{2}) [\t -~]*+\r\n"
        rb"(" + fields + length + fields + rb")\r\n"
    )


_KEPT: Final = _usual(rb"keep-alive")
_LAST: Final = _usual(rb"(?:keep-alive|close)")


def read_fast(data: bytes, largest: int, *, last: bool = False) -> ProviderAnswer | None:
    """
    Return the response if the segment is a usual one with a body of ``largest`` bytes at most.

    The last response of its connection may also say that the bank closes.
    """
    found = (_LAST if last else _KEPT).match(data)
    if found is None:
        return None
    end, length = found.end(), int(found[3])
    if length != len(data) - end or length > largest or end > LINE_BYTES:
        return None
    return ProviderAnswer(status=int(found[1]), headers=LazyHeaders(found[2]), body=data[end:])


class LazyHeaders(Mapping[str, str]):
    """Headers that are parsed when they are first read; most never are."""

    __slots__ = ("_headers", "_lines")

    def __init__(self, lines: bytes) -> None:
        self._lines = lines
        self._headers: CIMultiDict[str] | None = None

    def __getitem__(self, name: str) -> str:
        """Return the first value of a header, its name in any letter case."""
        return self._parsed()[name]

    def __iter__(self) -> Iterator[str]:
        """Name the headers."""
        return iter(self._parsed())

    def __len__(self) -> int:
        """Count the lines."""
        return len(self._parsed())

    def items(self) -> ItemsView[str, str]:
        """Return every line's name and value."""
        return self._parsed().items()

    def _parsed(self) -> CIMultiDict[str]:
        """Parse the lines, once."""
        if self._headers is None:
            pairs = (line.partition(":") for line in self._lines.decode().split("\r\n") if line)
            self._headers = CIMultiDict((name, value.strip(" \t")) for name, _, value in pairs)
        return self._headers
