"""
How one statement is given many rows: once for each of them, or once with all as arrays.

Its text is the same for any number. A server prepares a text once for every connection that brings
it, and plans, binds and answers each execution by itself: there arrays cost a fraction.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import ARRAY, ColumnElement, Insert, Text, bindparam, column, func, select
from sqlalchemy.types import TypeEngine

Row = Mapping[str, object]
Types = Mapping[str, TypeEngine[Any]]
"""The values of a row by name, each with the type of the column it meets."""


class ManyRows(Hashable, Protocol):
    """A database's way; a statement is made with it once, and executed with what it gives."""

    def places(self, types: Types) -> Mapping[str, ColumnElement[Any]]:
        """Return what stands for each value in a statement over many rows."""

    def inserting(self, into: Insert, types: Types) -> Insert:
        """Have an INSERT take its rows from outside, in the order they come."""

    def given(self, rows: Sequence[Row]) -> Sequence[Row] | Mapping[str, Sequence[object]]:
        """Return rows, at least one and all of the same names, as such a statement takes them."""


class RowByRow:
    """The statement is executed for every row; without a network that is the shortest way."""

    def places(self, types: Types) -> Mapping[str, ColumnElement[Any]]:
        """Return a parameter each."""
        return {name: bindparam(name, type_=each) for name, each in types.items()}

    def inserting(self, into: Insert, types: Types) -> Insert:
        """Return it as it is: rows are what an INSERT takes."""
        return into

    def given(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return them as they are."""
        return rows


class Arrays:
    """The statement is executed once, over a table of as many arrays as a row has values."""

    def places(self, types: Types) -> Mapping[str, ColumnElement[Any]]:
        """Return the columns of that table; a statement that uses one reads from it."""
        # a parameter has no collation: the column it meets has
        plain = {name: Text() if isinstance(each, Text) else each for name, each in types.items()}
        arrays = [bindparam(name, type_=ARRAY(each)) for name, each in plain.items()]
        named = [column(name, each) for name, each in plain.items()]
        table = func.unnest(*arrays).table_valued(*named, name="given").render_derived()
        return {name: table.c[name] for name in types}

    def inserting(self, into: Insert, types: Types) -> Insert:
        """Have it insert the rows of that table."""
        return into.from_select(list(types), select(*self.places(types).values()))

    def given(self, rows: Sequence[Row]) -> Mapping[str, Sequence[object]]:
        """Turn rows into columns."""
        return {name: [row[name] for row in rows] for name in rows[0]}


ROW_BY_ROW, ARRAYS = RowByRow(), Arrays()
