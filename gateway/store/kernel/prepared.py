"""
Compiled statements, run directly on the driver.

SQLAlchemy's work for each execution costs more than the driver's. The texts and the types of
columns stay Core's: there is no SQL beside it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from sqlalchemy import ARRAY, ColumnElement, Dialect, Insert, Select, bindparam
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import Executable, ReturnsRows
from sqlalchemy.types import TypeEngine

from gateway.store.tables.columns import Record

if TYPE_CHECKING:
    import asyncpg

BulkRow = Mapping[str, object]
Values = tuple[object, ...]
Key = tuple[str, bytes]
"""An account's id and the digest of a reference."""
Among = Callable[[Sequence[ColumnElement[object]], str], ColumnElement[bool]]
Found = Select[*tuple[Any, ...]]
EachOf = Callable[[Found, Sequence[ColumnElement[Any]], str], Found]
Types = Mapping[str, TypeEngine[Any]]
"""The values of a row by name, each with the type of its column."""


def bound(name: str, rows: Sequence[Values]) -> dict[str, Sequence[object]]:
    """Bind rows for ``among`` and ``each_of``: whole, and each of their columns by itself."""
    columns = enumerate(zip(*rows, strict=True))
    return {name: rows, **{f"{name}_{number}": list(values) for number, values in columns}}


class BulkParameters(Hashable, Protocol):
    """
    Binds many rows to one statement.

    A statement is built once with ``parameters`` or ``insert_rows``, and executed with what
    ``bind`` returns. Its text is the same for any number of rows.
    """

    def parameters(self, types: Types) -> Mapping[str, ColumnElement[Any]]:
        """Return the SQL expression of each value of a row."""

    def insert_rows(self, into: Insert, types: Types) -> Insert:
        """Make an INSERT take its rows from outside, in the order given."""

    def bind(self, rows: Sequence[BulkRow]) -> Sequence[BulkRow] | BulkRow:
        """Return the parameters of an execution: one row or more, all with the same names."""


class ExecuteMany:
    """The statement runs once per row: cheapest for one row, and for many without a network."""

    def parameters(self, types: Types) -> Mapping[str, ColumnElement[Any]]:
        """Return one parameter per value."""
        return {name: bindparam(name, type_=each) for name, each in types.items()}

    def insert_rows(self, into: Insert, types: Types) -> Insert:
        """Return the statement unchanged: an INSERT takes rows as they are."""
        return into

    def bind(self, rows: Sequence[BulkRow]) -> Sequence[BulkRow] | BulkRow:
        """Return several rows unchanged; a single row runs as a plain, counted statement."""
        return rows if len(rows) > 1 else rows[0]


EXECUTE_MANY = ExecuteMany()

Process = Callable[[Any], object]
# There are about twenty; a statement that is made anew each time would fill any memory.
_KEPT = 256


class Result(Protocol):
    """Result of a statement."""

    @property
    def rowcount(self) -> int:
        """Number of changed rows."""

    def all(self) -> Sequence[Record]:
        """Return the rows found."""

    def scalar_one(self) -> Any:  # noqa: ANN401 - of any type
        """Return the only value of the only row."""


class Execution(Protocol):
    """Executes statements, as SQLAlchemy's ``AsyncConnection`` does."""

    async def execute(
        self, statement: Executable, parameters: Sequence[BulkRow] | BulkRow | None = None, /
    ) -> Result:
        """Execute a statement, once for each row of parameters."""


@dataclass(frozen=True, slots=True)
class DriverResult:
    """``Result`` of a compiled statement."""

    rows: Sequence[Record] = ()
    rowcount: int = 0

    def all(self) -> Sequence[Record]:
        """Return the rows found."""
        return self.rows

    def scalar_one(self) -> Any:  # noqa: ANN401 - of any type
        """Return the only value of the only row."""
        [[value]] = self.rows
        return value


@dataclass(frozen=True, slots=True)
class PreparedExecution:
    """Executes compiled statements on the driver; the compiled ones are cached."""

    dialect: Dialect
    driver: asyncpg.Connection[asyncpg.Record]

    async def execute(
        self, statement: Executable, parameters: Sequence[BulkRow] | BulkRow | None = None, /
    ) -> DriverResult:
        """Execute a statement once for each row; a failure is raised as SQLAlchemy raises it."""
        rows = [parameters or {}] if isinstance(parameters, dict | Mapping | None) else parameters
        prepared = _prepare(statement, self.dialect, tuple(rows[0]))
        finds = bool(prepared.names)
        done = [await self.run(prepared.text, prepared.values(row), finds=finds) for row in rows]
        if finds:
            found = [prepared.restored(values) for each in done for values in each]
            return DriverResult(found, len(found))
        return DriverResult((), sum(int(each.rpartition(" ")[2]) for each in done))

    async def run(self, text: str, given: Values, *, finds: bool) -> Any:  # noqa: ANN401 - of two types
        """Return the driver's rows if the statement returns any, else ``UPDATE 2``."""
        try:
            return await (self.driver.fetch if finds else self.driver.execute)(text, *given)
        except OSError:  # TimeoutError is one
            raise
        except Exception as problem:
            raise DBAPIError(text, None, problem) from problem


@dataclass(frozen=True, slots=True)
class _Prepared:
    """
    A compiled statement for rows of parameters with the same names.

    Attributes:
        order: Names of the driver's parameters, in order.
        write: Write a value as the driver takes it, by place; most need nothing.
        fixed: Values that the statement has in itself.
        names: The columns it finds; none of a statement that finds none.
        read: Read their values, by place; most need nothing.
    """

    text: str
    order: Sequence[str]
    write: Sequence[tuple[int, Process]]
    fixed: BulkRow
    names: Sequence[str]
    read: Sequence[tuple[int, Process]]
    row: Callable[[Iterable[object]], Record] = field(init=False)

    def __post_init__(self) -> None:
        made = namedtuple("Row", self.names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - named by a statement
        object.__setattr__(self, "row", made._make)

    def values(self, row: BulkRow) -> Values:
        """
        Convert parameters for the driver.

        Raises:
            StatementError: a value cannot be sent; it is not quoted.
        """
        given = {**self.fixed, **row} if self.fixed else row
        ordered = [given[name] for name in self.order]
        try:
            for place, process in self.write:
                ordered[place] = process(ordered[place])
        except (ValueError, TypeError) as problem:
            message = "a value that cannot be sent"
            raise StatementError(message, self.text, None, problem) from None
        return tuple(ordered)

    def restored(self, values: Iterable[object]) -> Record:
        """Return a row converted to the types of its columns."""
        restored = list(values)
        for place, process in self.read:
            restored[place] = process(restored[place])
        return self.row(restored)


@lru_cache(maxsize=_KEPT)
def _prepare(statement: Executable, dialect: Dialect, given: tuple[str, ...]) -> _Prepared:
    compiled = cast("SQLCompiler", statement.compile(dialect=dialect, column_keys=list(given)))  # type: ignore[attr-defined]
    order = compiled.positiontup or []
    processes = dict(_binds(compiled, dialect))
    found = list(statement.exported_columns) if isinstance(statement, ReturnsRows) else []
    return _Prepared(
        text=compiled.string,
        order=order,
        write=[(place, processes[name]) for place, name in enumerate(order) if name in processes],
        fixed={name: value for name, value in compiled.params.items() if name not in given},
        names=[str(each.key) for each in found],
        read=list(_reading(found, dialect)),
    )


def _binds(compiled: SQLCompiler, dialect: Dialect) -> Iterator[tuple[str, Process]]:
    for name, bind in compiled.binds.items():
        process = _writing(bind.type, dialect)
        if process is not None:
            yield name, process


def _writing(kind: TypeEngine[Any], dialect: Dialect) -> Process | None:
    """Return the converter for a type; arrays are flat lists, whose values need none."""
    if not isinstance(kind, ARRAY):
        return kind.dialect_impl(dialect).bind_processor(dialect)
    each = _writing(kind.item_type, dialect)
    return None if each is None else lambda values: [each(value) for value in values]


def _reading(
    found: Sequence[ColumnElement[Any]], dialect: Dialect
) -> Iterator[tuple[int, Process]]:
    for place, each in enumerate(found):
        process = each.type.dialect_impl(dialect).result_processor(dialect, None)
        if process is not None:
            yield place, process
