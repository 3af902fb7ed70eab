"""
Requests and bank calls of one kind: looked at once, then only counted.

Two requests with the same row, status, outcome, reason and caller differ in
nothing that a label or a word of their log line says, but for times and sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import msgspec
from prometheus_client import Counter, Histogram

Record = TypeVar("Record")

# Kinds are made of rows and statuses, so they are few; the bound is for a mistake of ours.
_MOST: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """
    What is known of every record of one kind.

    Attributes:
        counters: Each adds one to them.
        timings: Histograms, in an order that the observer knows.
        words: What stands in each one's log line, ready to be written: the
            value of a field, and behind it further fields.
        quiet: It has no line of its own while a request is served.
    """

    counters: tuple[Counter, ...]
    timings: tuple[Histogram, ...]
    words: msgspec.Raw
    quiet: bool = False


class Kinds(Generic[Record]):
    """
    Kinds by what sets them apart.

    They are few: every part of a key is a word of ours, or says who asked.
    Should they ever not be, they are forgotten and looked at again.

    Attributes:
        known: The kind of a key, or None: then ``look``.
    """

    __slots__ = ("_known", "_look", "known")

    def __init__(self, look: Callable[[Record], Kind]) -> None:
        self._look = look
        self._known: dict[Hashable, Kind] = {}
        self.known = self._known.get

    def find(self, key: Hashable, record: Record) -> Kind:
        """Return the kind of a record."""
        kind = self._known.get(key)
        if kind is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            kind = self._known[key] = self._look(record)
        return kind

    def forget(self) -> None:
        """Look at every kind again: what stands in all lines has changed."""
        self._known.clear()
