"""Records whose fields are named like the columns they lie in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

from gateway.store.columns import Record

Kept = TypeVar("Kept", bound="DataclassInstance")


def row_of(record: DataclassInstance) -> dict[str, Any]:
    """Return a record as a row, one column for each field."""
    return {each.name: getattr(record, each.name) for each in fields(record)}


def record_of(
    kind: type[Kept], row: Record, words: Mapping[str, Callable[[str], Any]] | None = None
) -> Kept:
    """Read a record back; ``words`` turns the texts of some columns into what they mean."""
    values = {each.name: getattr(row, each.name) for each in fields(kind)}
    for name, read in (words or {}).items():
        values[name] = read(values[name])
    return kind(**values)
