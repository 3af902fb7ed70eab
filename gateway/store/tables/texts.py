"""Parts of texts in a statement, whatever their case and accents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Text, TextClause, func, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from gateway.domain.kernel.terms import folded
from gateway.store.tables.columns import Instant

COMPARED_AT_MOST: Final = 20_000
"""Rows, the newest, whose texts one search compares: no index leads to a part of a text."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SMALL: Final = "áàâãäéêëíïóôõöúüçñ"
_ACCENTED: Final = _SMALL + _SMALL.upper()
_PLAIN: Final = folded(_ACCENTED)


class Folded(FunctionElement[str]):
    """A text in small letters, without the accents of Portuguese; SQLite is given a function."""

    name = "folded"
    inherit_cache = True
    type = Text()


class JsonText(FunctionElement[str]):
    """A member of a JSON text, by its name."""

    name = "json_text"
    inherit_cache = True
    type = Text()


def contains(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    """Demand that a column holds a text."""
    return Folded(column).contains(folded(text.strip()), autoescape=True)


@compiles(Folded, "sqlite")
def _called(element: Folded, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    return f"folded({compiler.process(element.clauses, **options)})"


@compiles(Folded, "postgresql")
def _translated(element: Folded, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    column = compiler.process(element.clauses, **options)
    return f"lower(translate({column}, '{_ACCENTED}', '{_PLAIN}'))"


@compiles(JsonText, "sqlite")
def _extracted(element: JsonText, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    column, member = (compiler.process(each, **options) for each in element.clauses)
    return f"json_extract({column}, '$.' || {member})"


@compiles(JsonText, "postgresql")
def _member(element: JsonText, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    column, member = (compiler.process(each, **options) for each in element.clauses)
    return f"({column}::json ->> {member})"


def compared(
    at: ColumnElement[datetime], inside: Sequence[ColumnElement[bool] | TextClause]
) -> ColumnElement[bool]:
    """
    Demand one of the newest rows, as many as are compared at most.

    Args:
        at: When a row was made.
        inside: What else a search demands of the rows that it compares.
    """
    oldest = select(at).where(*inside).order_by(at.desc()).offset(COMPARED_AT_MOST - 1).limit(1)
    return at >= func.coalesce(oldest.scalar_subquery(), literal(_EPOCH, Instant))
