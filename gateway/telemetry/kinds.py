"""
Requests and bank calls of one kind: looked at once, then only counted.

Two requests with the same row, status, outcome and reason differ in nothing
that a label or a word of their log line says, but for times, sizes and who asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from gateway.telemetry.cells import Cell
from gateway.telemetry.events import Fields
from gateway.telemetry.lines import encode

Record = TypeVar("Record")

_MOST: Final = 4096
_END: Final = b"}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """
    What is known of every record of one kind.

    Attributes:
        counters: Cells to which each adds one.
        timings: Cells of histograms, in an order that the observer knows.
        rest: The end of its log line, ready to be written.
    """

    counters: tuple[Cell, ...]
    timings: tuple[Cell, ...]
    rest: bytes

    def line(self, own: Fields) -> bytes:
        """Write a log line: the record's own fields, then those of its kind."""
        return encode(own).removesuffix(_END) + self.rest

    def count(self) -> None:
        """Count one more."""
        for cell in self.counters:
            cell[0] += 1.0


def rest_of_line(common: Fields, always: Mapping[str, str]) -> bytes:
    """Write the fields of a kind, and those of every line, as the end of a line."""
    return b"," + encode({**common, **always}).removeprefix(b"{")


class Kinds(Generic[Record]):
    """
    Kinds by what sets them apart.

    They are few: every part of a key is a word of ours. Should they ever not
    be, they are forgotten and looked at again.
    """

    __slots__ = ("_known", "_look")

    def __init__(self, look: Callable[[Record], Kind]) -> None:
        """Use ``look`` on the first record of a kind."""
        self._look = look
        self._known: dict[Hashable, Kind] = {}

    def find(self, key: Hashable, record: Record) -> Kind:
        """Return the kind of a record."""
        kind = self._known.get(key)
        if kind is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            kind = self._known[key] = self._look(record)
        return kind
