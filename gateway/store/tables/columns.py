"""Column types of our values: instants, references, and documents as text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from sqlalchemy import (
    TIMESTAMP,
    BigInteger,
    BindParameter,
    ColumnElement,
    Dialect,
    Row,
    Text,
    literal,
    select,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Record = Row[*tuple[Any, ...]]
"""A row as the driver gives it; reading one into a value of ours gives it types again."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_MICROSECOND = timedelta(microseconds=1)


class Words(TypeDecorator[tuple[str, ...]]):
    """Words without blanks, in their order, as one text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> str | None:
        """Join the words."""
        return None if value is None else " ".join(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...] | None:
        """Split the text."""
        return None if value is None else tuple(value.split())


class Instant(TypeDecorator[datetime]):
    """
    An instant in UTC, exact to the microsecond; a time without a zone is refused.

    PostgreSQL has a type for it that its tools show readably. SQLite has none, and texts order
    rightly only while everybody spells them alike: there it is whole microseconds since 1970.
    """

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the database's own type."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(TIMESTAMP(timezone=True))
        return dialect.type_descriptor(BigInteger())

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], datetime | int | None]:
        """Write it in UTC; without the calls between that TypeDecorator makes."""
        return _utc if dialect.name == "postgresql" else _microseconds

    def process_literal_param(self, value: datetime | None, dialect: Dialect) -> Any:  # noqa: ANN401 - as bound
        """Write it into a statement's text as it would be bound."""
        return self.bind_processor(dialect)(value)

    def result_processor(
        self, dialect: Dialect, coltype: object
    ) -> Callable[[Any], datetime | None]:
        """Read it as an aware time; without the calls between that TypeDecorator makes."""
        return _aware if dialect.name == "postgresql" else _since_epoch


def _utc(value: datetime | None) -> datetime | None:
    if value is None or value.tzinfo is UTC:
        return value
    if value.tzinfo is None:
        problem = "an instant has a zone"
        raise ValueError(problem)
    return value.astimezone(UTC)


def _microseconds(value: datetime | None) -> int | None:
    instant = _utc(value)
    return None if instant is None else (instant - _EPOCH) // _MICROSECOND


def _aware(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC)


def _since_epoch(value: int | None) -> datetime | None:
    return None if value is None else _EPOCH + value * _MICROSECOND


BY_CODE_POINT = Text().with_variant(Text(collation="C"), "postgresql")
"""Text ordered by code point on both databases, whatever the server's language."""


def instant_unseen(at: datetime | BindParameter[datetime]) -> ColumnElement[datetime]:
    """
    Return an instant that a database does not see while it plans.

    PostgreSQL takes the newest rows, which it has not counted yet, for very few. Where it sees that
    only those are asked for, it reads all of them rather than use an index that leads further.
    """
    given = at if isinstance(at, BindParameter) else literal(at, Instant)
    return select(given).scalar_subquery()


# Each payout asks a dozen times for its own, within some tenths of a second.
@lru_cache(maxsize=1_024)
def reference_digest(reference: str) -> bytes:
    """
    Return the SHA-256 of a reference: 32 bytes that stand for it in keys.

    A reference may be 1024 code points, 4096 bytes; PostgreSQL's indexes refuse
    a key above 2704 bytes, and would refuse it only for some references.
    """
    return hashlib.sha256(reference.encode()).digest()


def written(texts: Mapping[str, str]) -> str:
    """Write flat texts as one JSON document, readable as they are spelt."""
    plain = dict(texts)
    try:
        return orjson.dumps(plain).decode()
    except TypeError:  # half of a character: no database takes it, and says so
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def written_in_ascii(document: Mapping[str, object]) -> str:
    """Write a JSON document of characters that every column takes."""
    try:
        quick = orjson.dumps(document)
    except TypeError:  # half of a character, or a very large number
        quick = b"\xff"
    return quick.decode() if quick.isascii() else json.dumps(document, separators=(",", ":"))


def read(document: str) -> dict[str, str]:
    """Read a value written by ``written``."""
    texts: dict[str, str] = orjson.loads(document)
    return texts


Kept = TypeVar("Kept", bound="DataclassInstance")


def row_of(record: DataclassInstance) -> dict[str, Any]:
    """Return a record as a row, one column for each field."""
    return {each.name: getattr(record, each.name) for each in fields(record)}


def record_of(
    kind: type[Kept],
    row: Record,
    words: Mapping[str, Callable[[str], Any]] | None = None,
    **others: object,
) -> Kept:
    """
    Read a record back, each field from the column of its name.

    Args:
        kind: The record.
        row: Has its columns.
        words: Turns the texts of some columns into their enum members.
        others: Fields that are no column.
    """
    names = (each.name for each in fields(kind) if each.init and each.name not in others)
    values = {name: getattr(row, name) for name in names}
    for name, read in (words or {}).items():
        values[name] = read(values[name])
    return kind(**values, **others)
