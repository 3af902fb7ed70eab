"""A route is one row; a gate is what stands in front of rows."""

from __future__ import annotations

import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gateway.domain.calls import Asked, Call, Input, Policy
from gateway.domain.errors import ErrorCode
from gateway.domain.permissions import Permission

Document = Mapping[str, Any]
Who = TypeVar("Who")
Taken = TypeVar("Taken")
Result = TypeVar("Result")
Shown = TypeVar("Shown", bound=Document)


@dataclass(frozen=True, slots=True)
class RowLimits:
    """
    What one call of a row may cost.

    Attributes:
        quota: The token bucket it draws from.
        body_bytes: The largest body that is read; 0 reads none.
    """

    quota: str
    body_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Generic[Who]):
    """
    One operation of a surface; made by ``route`` alone, which checks that its parts fit.

    Attributes:
        name: ``surface.operation``, the label in logs and metrics.
        path: Below the surface's prefix, parameters in braces.
        needs: The permission; None opens the row and must be written out.
        fails: Which code an exception of a port becomes, nearest class first.
        document: The type of the answer, for the OpenAPI document.
    """

    method: str
    path: str
    name: str
    tells: str
    needs: Permission | None
    limits: RowLimits
    takes: Input[Any]
    serve: Callable[[Who, Asked], Awaitable[Document]]
    fails: Mapping[type[Exception], ErrorCode]
    raises: Sequence[ErrorCode]
    document: Any

    def code_of(self, problem: Exception) -> ErrorCode | None:
        """Return the code an exception becomes here; None when it is nobody's."""
        for kind in type(problem).__mro__:
            if kind in self.fails:
                return self.fails[kind]
        return None


def route(  # noqa: PLR0913 - a row is a table line: every cell is named and none has a default
    method: str,
    path: str,
    *,
    name: str,
    tells: str,
    needs: Permission | None,
    limits: RowLimits,
    takes: Input[Taken],
    runs: Callable[[Who, Taken], Awaitable[Result]],
    shows: Callable[[Result, Who], Shown],
    fails: Mapping[type[Exception], ErrorCode],
    raises: Sequence[ErrorCode],
) -> Row[Who]:
    """
    Declare a row.

    Args:
        method: ``GET`` answers ``HEAD`` too.
        path: Below the surface's prefix.
        name: For logs, metrics and the OpenAPI document.
        tells: One line of documentation.
        needs: The permission, None for an open row.
        limits: Quota and body size.
        takes: How the input is read.
        runs: The operation.
        shows: Turns its result into the document of the answer.
        fails: Which code each exception of a port becomes.
        raises: Further codes the operation itself refuses with.
    """

    async def serve(who: Who, asked: Asked) -> Document:
        return shows(await runs(who, takes.read(asked)), who)

    return Row(
        method=method,
        path=path,
        name=name,
        tells=tells,
        needs=needs,
        limits=limits,
        takes=takes,
        serve=serve,
        fails=fails,
        raises=raises,
        document=typing.get_type_hints(shows)["return"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Generic[Who]):
    """
    Rows behind the same questions.

    Attributes:
        policies: Asked in this order; the first refusal answers.
        admits: Turns a call that was let through into what operations take.
    """

    policies: Sequence[Policy]
    admits: Callable[[Call], Who]
    rows: Sequence[Row[Who]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """
    A part of the public interface.

    Attributes:
        prefix: Of every path, without a trailing slash.
        challenge: The ``WWW-Authenticate`` value of its 401 answers.
        body_bytes: A request that declares a larger body is refused unread.
        exempt: Names of rows served even when overloaded.
    """

    name: str
    prefix: str
    gates: Sequence[Gate[Any]]
    challenge: str
    body_bytes: int
    exempt: frozenset[str]
