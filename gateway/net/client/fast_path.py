"""
The usual answer, read at a glance; every other one is the parser's.

Usual is what no two readers read apart: HTTP/1.1, whole in one segment, a
length told once and kept to the byte, no coding, nothing said of closing
unless we close as well.
"""

from __future__ import annotations

import re
from collections.abc import ItemsView, Iterator, Mapping
from typing import Final

from multidict import CIMultiDict

from gateway.net.client.messages import ProviderAnswer
from gateway.net.client.parser import HEADERS, LINE_BYTES


def _usual(connection: bytes) -> re.Pattern[bytes]:
    """Describe a usual answer; ``connection`` is all that it may say of the connection."""
    # Whatever bounds the body or the connection, but for the one length and what is said of it.
    framing = (
        rb"(?i:content-length|transfer-encoding|content-encoding|upgrade|keep-alive"
        rb"|connection(?!:[\t ]*" + connection + rb"[\t ]*\r))"
    )
    field = rb"(?!" + framing + rb"[\t ]*:)[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t -~]*+\r\n"
    fields = rb"(?:" + field + rb"){0,%d}+" % (HEADERS // 2 - 1)
    length = rb"(?i:content-length):[\t ]*+([0-9]{1,18})[\t ]*+\r\n"
    return re.compile(
        rb"HTTP/1\.1 (?!204|304)([2-5][0-9]{2}) [\t -~]*+\r\n"
        rb"(" + fields + length + fields + rb")\r\n"
    )


_KEPT: Final = _usual(rb"keep-alive")
_LAST: Final = _usual(rb"(?:keep-alive|close)")


def glance(data: bytes, largest: int, *, last: bool = False) -> ProviderAnswer | None:
    """
    Return the answer when the segment is a usual one, its body at most ``largest`` bytes.

    The last one of its connection may also say that the bank closes.
    """
    found = (_LAST if last else _KEPT).match(data)
    if found is None:
        return None
    end, length = found.end(), int(found[3])
    if length != len(data) - end or length > largest or end > LINE_BYTES:
        return None
    return ProviderAnswer(status=int(found[1]), headers=Fields(found[2]), body=data[end:])


class Fields(Mapping[str, str]):
    """The lines of a head, taken apart when somebody asks; hardly anybody does."""

    __slots__ = ("_lines", "_taken")

    def __init__(self, lines: bytes) -> None:
        self._lines = lines
        self._taken: CIMultiDict[str] | None = None

    def __getitem__(self, name: str) -> str:
        """Return the first value of a header, its name in any letter case."""
        return self._apart()[name]

    def __iter__(self) -> Iterator[str]:
        """Name the headers."""
        return iter(self._apart())

    def __len__(self) -> int:
        """Count the lines."""
        return len(self._apart())

    def items(self) -> ItemsView[str, str]:
        """Return every line's name and value."""
        return self._apart().items()

    def _apart(self) -> CIMultiDict[str]:
        """Take the lines apart, once."""
        if self._taken is None:
            pairs = (line.partition(":") for line in self._lines.decode().split("\r\n") if line)
            self._taken = CIMultiDict((name, value.strip(" \t")) for name, _, value in pairs)
        return self._taken
