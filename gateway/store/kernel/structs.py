"""Structs as rows: a struct's fields have the names of its table's columns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

import msgspec

from gateway.store.tables.columns import Record

Shape = TypeVar("Shape", bound=msgspec.Struct)


def row_of(struct: msgspec.Struct) -> Mapping[str, object]:
    """Return the values of a row; a word of an enumeration as its text, an instant as it is."""
    row: dict[str, object] = msgspec.to_builtins(struct, builtin_types=(datetime,))
    return row


def from_row(row: Record, kind: type[Shape]) -> Shape:
    """Read a struct from a row, whose further columns are ignored; 7 µs, by hand 1."""
    return msgspec.convert(row, kind, from_attributes=True)
