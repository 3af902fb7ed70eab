"""Parts of texts in a statement, whatever their case and accents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Text, TextClause, and_, or_, select, true, tuple_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from gateway.domain.kernel.terms import folded, terms_of

COMPARED_AT_MOST: Final = 20_000
"""Rows, the newest, whose texts one search compares: no index leads to a part of a text."""
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
    """Demand that a column holds every word of a text, in any order."""
    words = terms_of(text).words
    held = (Folded(column).contains(each, autoescape=True) for each in words)
    return and_(true(), *held)


@compiles(Folded, "sqlite")
def _called(element: Folded, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    return f"folded({compiler.process(element.clauses, **options)})"


@compiles(Folded, "postgresql")
def _translated(element: Folded, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    column = compiler.process(element.clauses, **options)
    plain = f"translate({column}, '{_ACCENTED}', '{_PLAIN}')"  # takes ten times as long as the rest
    is_ascii = f"octet_length({column}) = length({column})"
    return f"lower(CASE WHEN {is_ascii} THEN {column} ELSE {plain} END)"


@compiles(JsonText, "sqlite")
def _extracted(element: JsonText, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    column, member = (compiler.process(each, **options) for each in element.clauses)
    return f"json_extract({column}, '$.' || {member})"


@compiles(JsonText, "postgresql")
def _member(element: JsonText, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    column, member = (compiler.process(each, **options) for each in element.clauses)
    return f"({column}::json ->> {member})"


def holding(
    given: str,
    texts: Sequence[ColumnElement[Any]],
    key: Sequence[ColumnElement[Any]],
    at: ColumnElement[datetime],
    inside: Sequence[ColumnElement[bool] | TextClause],
) -> ColumnElement[bool]:
    """
    Demand one of the newest rows, as many as are compared at most, where a text holds all words.

    They are taken before they are compared: PostgreSQL would compare the rows of other companies
    too, before it asks whose they are.

    Args:
        given: The words that one of ``texts`` holds.
        texts: Columns that are compared.
        key: The primary key.
        at: When a row was made.
        inside: What else a search demands of the rows that it compares.
    """
    taken = select(*key, *texts).where(*inside).order_by(at.desc()).limit(COMPARED_AT_MOST)
    newest = list(taken.subquery().c)
    held = or_(*(contains(each, given) for each in newest[len(key) :]))
    found = select(*newest[: len(key)]).where(held)
    return tuple_(*key).in_(found) if len(key) > 1 else key[0].in_(found)
