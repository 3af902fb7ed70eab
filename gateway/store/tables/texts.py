"""Parts of texts in a statement, ignoring case and accents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Text, TextClause, and_, func, literal, or_, select, true
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from gateway.core.terms import folded, search_term
from gateway.store.tables.columns import Instant

COMPARED_AT_MOST: Final = 20_000
"""Rows, the newest, whose texts one search compares: no index leads to a part of a text."""
_SMALL: Final = "áàâãäéêëíïóôõöúüçñ"
_ACCENTED: Final = _SMALL + _SMALL.upper()
_PLAIN: Final = folded(_ACCENTED)
_FIRST: Final = literal(datetime(1, 1, 1, tzinfo=UTC), Instant)
"""Before every row."""


class Folded(FunctionElement[str]):
    """
    A text in small letters, without the accents of Portuguese.

    SQLite is given a function; a call of it takes twenty times as long as the rest.
    """

    name = "folded"
    inherit_cache = True
    type = Text()


def contains(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    """Return the SQL condition: a column holds every word of a text, in any order."""
    return _holds(Folded(column), text)


def _holds(folded_text: ColumnElement[str], text: str) -> ColumnElement[bool]:
    held = (folded_text.contains(each, autoescape=True) for each in search_term(text).words)
    return and_(true(), *held)


@compiles(Folded, "sqlite")
def _called(element: Folded, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    column = compiler.process(element.clauses, **options)
    is_ascii = f"length(CAST({column} AS BLOB)) = length({column})"
    return f"CASE WHEN {is_ascii} THEN lower({column}) ELSE folded({column}) END"


@compiles(Folded, "postgresql")
def _translated(element: Folded, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    column = compiler.process(element.clauses, **options)
    plain = f"translate({column}, '{_ACCENTED}', '{_PLAIN}')"  # takes ten times as long as the rest
    is_ascii = f"octet_length({column}) = length({column})"
    return f"lower(CASE WHEN {is_ascii} THEN {column} ELSE {plain} END)"


def holding(
    given: str,
    texts: Sequence[ColumnElement[str]],
    at: ColumnElement[datetime],
    start: datetime | None,
    inside: Sequence[ColumnElement[bool] | TextClause],
) -> ColumnElement[bool]:
    """
    Return the SQL condition: one of the newest rows, with all words in one text.

    Args:
        given: The words that one of ``texts`` holds.
        texts: The columns compared, folded.
        at: When a row was made.
        start: When the first row of the search was made; None for no bound.
        inside: The search's other conditions on the compared rows.
    """
    first = _FIRST if start is None else literal(start, Instant)
    newest = select(at).where(at >= first, *inside).order_by(at.desc())
    oldest = newest.offset(COMPARED_AT_MOST - 1).limit(1).correlate(None).scalar_subquery()
    # It comes first: SQLite, which has no statistics of a store, walks an index down to that bound.
    # By the other, which is known when it plans, PostgreSQL sees how few rows there are.
    since = func.coalesce(oldest, first)
    return and_(at >= since, at >= first, or_(*(_holds(each, given) for each in texts)))
