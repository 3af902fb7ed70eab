"""
The usual answer, read at a glance; every other one is the parser's.

Usual is what no two readers read apart: HTTP/1.1, whole in one segment, a
length told once and kept to the byte, no coding, nothing said of closing.
"""

from __future__ import annotations

import re
from collections.abc import ItemsView, Iterator, Mapping
from typing import Final

from multidict import CIMultiDict

from provider_adapters._shared.messages import ProviderAnswer
from provider_adapters._shared.wire.parser import HEADERS, LINE_BYTES

# Whatever bounds the body or the connection, but for the one length and a connection that is kept.
_FRAMING: Final = (
    rb"(?i:content-length|transfer-encoding|content-encoding|upgrade|keep-alive"
    rb"|connection(?!:[\t ]*keep-alive[\t ]*\r))"
)
_FIELD: Final = rb"(?!" + _FRAMING + rb"[\t ]*:)[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t -~]*+\r\n"
_FIELDS: Final = rb"(?:" + _FIELD + rb"){0,%d}+" % (HEADERS // 2 - 1)
_USUAL: Final = re.compile(
    rb"HTTP/1\.1 (?!204|304)([2-5][0-9]{2}) [\t -~]*+\r\n"
    rb"(" + _FIELDS + rb"(?i:content-length):[\t ]*+([0-9]{1,18})[\t ]*+\r\n" + _FIELDS + rb")\r\n"
)


def glance(data: bytes, largest: int) -> ProviderAnswer | None:
    """Return the answer when the segment is a usual one, its body at most ``largest`` bytes."""
    found = _USUAL.match(data)
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
