"""
Statements that are made once: how they take keys and rows, and how a driver runs them alone.

What SQLAlchemy does for each execution, and for each of its rows, costs several times what SQLite
does. The texts and the types of columns stay Core's: there is no SQL beside it.
"""

from __future__ import annotations

import asyncio
from collections import namedtuple
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from operator import itemgetter
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from sqlalchemy import ARRAY, ColumnElement, Dialect, Insert, Select, bindparam
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.ext.asyncio.engine import AsyncEngine
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import Executable, ReturnsRows
from sqlalchemy.types import TypeEngine
from sqlalchemy.util import greenlet_spawn

from gateway.store.tables.columns import Record

BulkRow = Mapping[str, object]
Values = tuple[object, ...]
Key = tuple[str, bytes]
"""An account's id and the digest of a reference."""
Among = Callable[[Sequence[ColumnElement[object]], str], ColumnElement[bool]]
Found = Select[*tuple[Any, ...]]
Types = Mapping[str, TypeEngine[Any]]
"""The values of a row by name, each with the type of its column."""


def bound(name: str, rows: Sequence[Values]) -> dict[str, Sequence[object]]:
    """Bind rows for ``among`` and ``each_of``: whole, and each of their columns by itself."""
    columns = enumerate(zip(*rows, strict=True))
    return {name: rows, **{f"{name}_{number}": list(values) for number, values in columns}}


class BulkParameters(Hashable, Protocol):
    """
    How one statement takes many rows.

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
        """Return it unchanged: an INSERT takes rows as they are."""
        return into

    def bind(self, rows: Sequence[BulkRow]) -> Sequence[BulkRow] | BulkRow:
        """Return them unchanged; one runs as a plain statement, whose changes are counted."""
        return rows if len(rows) > 1 else rows[0]


EXECUTE_MANY = ExecuteMany()

Process = Callable[[Any], object]
# There are about twenty; a statement that is made anew each time would fill any memory.
_KEPT = 256


class Statement(NamedTuple):
    """
    What a driver is asked.

    Attributes:
        is_for_many: Parameters are those of many executions.
        finds: There are rows to be had.
    """

    text: str
    parameters: Any = ()
    is_for_many: bool = False
    finds: bool = False


class Outcome(NamedTuple):
    """What a cursor says when it has done everything."""

    description: Any
    rows: list[Any]
    rowcount: int
    lastrowid: int | None


Run = Callable[[Statement], Awaitable[Outcome]]
"""Has the driver do a statement; raises what it raises."""


Done = TypeVar("Done")
Together = Callable[["Execution"], Coroutine[Any, Any, Done]]
"""Statements one after another, each as those before it say; waits for nothing else."""


class Result(Protocol):
    """What a statement found or changed."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""

    def all(self) -> Sequence[Record]:
        """Return what was found."""

    def scalar_one(self) -> Any:  # noqa: ANN401 - of any type
        """Return the only value of the only row."""


class Execution(Protocol):
    """Executes statements inside a transaction, as SQLAlchemy's ``AsyncConnection`` does."""

    async def execute(
        self, statement: Executable, parameters: Sequence[BulkRow] | BulkRow | None = None, /
    ) -> Result:
        """Execute a statement, once for each row of parameters."""


@dataclass(frozen=True, slots=True)
class DriverResult:
    """``Result`` of a hot statement."""

    rows: Sequence[Record] = ()
    rowcount: int = 0

    def all(self) -> Sequence[Record]:
        """Return what was found."""
        return self.rows

    def scalar_one(self) -> Any:  # noqa: ANN401 - of any type
        """Return the only value of the only row."""
        [[value]] = self.rows
        return value


@dataclass(frozen=True, slots=True)
class HotExecution:
    """``Execution`` on a driver; every statement must be one that is made once and kept."""

    dialect: Dialect
    run: Run

    async def execute(
        self, statement: Executable, parameters: Sequence[BulkRow] | BulkRow | None = None, /
    ) -> DriverResult:
        """Execute a statement once for each row; by one call where it only changes something."""
        rows = [parameters or {}] if isinstance(parameters, dict | Mapping | None) else parameters
        hot = _hot(statement, self.dialect, tuple(rows[0]))
        if not hot.names and not hot.expands:
            return DriverResult(rowcount=(await self.run(hot.asked(rows))).rowcount)
        done = [await self.run(hot.asked([row])) for row in rows]
        found = [hot.restored(values) for each in done for values in each.rows]
        return DriverResult(found, sum(each.rowcount for each in done))


Do = Callable[[Together[Any]], Awaitable[Any]]
Lend = Callable[[AsyncEngine], AbstractAsyncContextManager[Do]]


class Lent:
    """
    A connection of a pool for hot statements that stand alone, without SQLAlchemy's around it.

    That, its isolation level and the task it is closed in cost more than the driver does.
    """

    __slots__ = ("_connection", "_do", "_engine")

    def __init__(
        self,
        engine: AsyncEngine,
        do: Callable[[PoolProxiedConnection, Dialect, Together[Any]], Awaitable[Any]],
    ) -> None:
        """Lend one of this pool; ``do`` asks its driver."""
        self._engine, self._do = engine, do

    async def __aenter__(self) -> Do:
        """Wait for one that is free; it fails as SQLAlchemy's connections do."""
        try:
            self._connection = await self._engine.raw_connection()
        except self._engine.dialect.loaded_dbapi.Error as problem:
            raise DBAPIError(None, None, problem) from problem
        return partial(self._do, self._connection, self._engine.dialect)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give it back."""
        if problem is None:
            # nothing is asked of the database, so that there is nothing to be cut short
            await greenlet_spawn(self._connection.close)
        else:
            await _to_the_end(greenlet_spawn(self._connection.close))


@asynccontextmanager
async def lend(engine: AsyncEngine) -> AsyncIterator[Do]:
    """Lend a connection of SQLAlchemy's, on which each statement stands alone."""
    async with engine.connect() as connection:
        yield lambda work: work(connection)


@asynccontextmanager
async def transact(engine: AsyncEngine) -> AsyncIterator[Do]:
    """Lend one of SQLAlchemy's in a transaction: committed at the end, undone by an exception."""
    async with engine.begin() as connection:
        yield lambda work: work(connection)


async def _to_the_end(closing: Coroutine[Any, Any, None]) -> None:
    """Wait until all is done, also when cancelled: what would be left would hold a thread."""
    task = asyncio.create_task(closing)  # noqa: TID251 - awaited here in any case
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as problem:
            cancelled = problem
    task.result()
    if cancelled is not None:
        raise cancelled


@dataclass(frozen=True, slots=True)
class _Hot:
    """
    A statement for rows of parameters with the same names.

    Attributes:
        take: Takes the driver's parameters out of a row, in their order.
        processes: Write a value as the driver takes it, by name; most need none.
        placed: The same by place.
        fixed: Values that the statement has in itself.
        names: The columns it finds; none of a statement that finds none.
        read: Read their values, by place; most need nothing.
        expands: There is a list in it, whose length decides the text.
    """

    compiled: SQLCompiler
    take: Callable[[BulkRow], Values]
    processes: Mapping[str, Process]
    placed: Sequence[tuple[int, Process]]
    fixed: BulkRow
    names: Sequence[str]
    read: Sequence[tuple[int, Process]]
    expands: bool
    row: Callable[[Iterable[object]], Record] = field(init=False)

    def __post_init__(self) -> None:
        made = namedtuple("Row", self.names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - named by a statement
        object.__setattr__(self, "row", made._make)

    def asked(self, rows: Sequence[BulkRow]) -> Statement:
        """
        Write parameters as the driver takes them; of a statement with a list in it, one row.

        Raises:
            StatementError: a value cannot be sent; it is not quoted.
        """
        try:
            if self.expands:
                return self._expanded(rows[0])
            values = [self._bound(row) for row in rows]
        except (ValueError, TypeError) as problem:
            said = "a value that cannot be sent"
            raise StatementError(said, self.compiled.string, None, problem) from None
        many = len(values) > 1
        given = values if many else values[0]
        return Statement(self.compiled.string, given, is_for_many=many, finds=bool(self.names))

    def restored(self, values: Iterable[object]) -> Record:
        """Return a row with the types of its columns."""
        restored = list(values)
        for place, process in self.read:
            restored[place] = process(restored[place])
        return self.row(restored)

    def _bound(self, row: BulkRow) -> Values:
        values = list(self.take({**self.fixed, **row} if self.fixed else row))
        for place, process in self.placed:
            values[place] = process(values[place])
        return tuple(values)

    def _expanded(self, row: BulkRow) -> Statement:
        """Write a statement with a list in it, for a list of this length."""
        state = self.compiled.construct_expanded_state(dict(row))
        values = zip(state.positiontup or (), state.positional_parameters, strict=True)
        processes = {**self.processes, **state.processors}
        plain = (processes.get(name, _as_it_is)(value) for name, value in values)
        return Statement(state.statement, tuple(plain), finds=bool(self.names))


@lru_cache(maxsize=_KEPT)
def _hot(statement: Executable, dialect: Dialect, given: tuple[str, ...]) -> _Hot:
    compiled = cast("SQLCompiler", statement.compile(dialect=dialect, column_keys=list(given)))  # type: ignore[attr-defined]
    order = compiled.positiontup or []
    processes = dict(_binds(compiled, dialect))
    found = list(statement.exported_columns) if isinstance(statement, ReturnsRows) else []
    return _Hot(
        compiled=compiled,
        take=_taking(order),
        processes=processes,
        placed=[(place, processes[name]) for place, name in enumerate(order) if name in processes],
        fixed={name: value for name, value in compiled.params.items() if name not in given},
        names=[str(each.key) for each in found],
        read=list(_reading(found, dialect)),
        expands=any(each.expanding for each in compiled.binds.values()),
    )


def _taking(order: Sequence[str]) -> Callable[[BulkRow], Values]:
    """Return what takes these values out of a row; one alone would not come as a tuple."""
    if len(order) > 1:
        return cast("Callable[[BulkRow], Values]", itemgetter(*order))
    return lambda row: tuple(row[name] for name in order)


def _binds(compiled: SQLCompiler, dialect: Dialect) -> Iterator[tuple[str, Process]]:
    for name, bind in compiled.binds.items():
        process = _writing(bind.type, dialect)
        if process is not None:
            yield name, process


def _writing(kind: TypeEngine[Any], dialect: Dialect) -> Process | None:
    """Return what writes a value of a type; arrays are flat lists, whose values need nothing."""
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


def _as_it_is(value: object) -> object:
    return value
