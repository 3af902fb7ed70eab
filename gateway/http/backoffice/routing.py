"""
Routes that run a service method.

The method's ``requires`` is the right, its signature the input and the document of the answer,
and the first line of its docstring the summary.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypedDict

import msgspec

from gateway.core.access import requirement_of
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.windows import Paging
from gateway.domain.requests.calls import Input, RawRequest
from gateway.http.backoffice.callers import BackOfficeCaller, explained
from gateway.http.backoffice.cells import CREATED, NO_BODY, NO_CONTENT, WITH_BODY
from gateway.http.common import STORE_FAILS
from gateway.http.resources.documents import Meter
from gateway.http.resources.represent import meter
from gateway.http.route import OK, Answer, Document, Row
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs
from policies.validation.bodies import body

_PAGE: Final[Input[Paging]] = inputs.filters(inputs.Filters.paging, *inputs.PAGING)


class Routes:
    """
    The routes of one noun.

    Attributes:
        rows: Those that ask for a fresh second factor only where the right does.
        fresh: Those that always ask for one.
    """

    def __init__(self) -> None:
        self.rows: list[Row[BackOfficeCaller]] = []
        self.fresh: list[Row[BackOfficeCaller]] = []

    def get(self, path: str, name: str, does: Callable[..., Any]) -> None:
        """Read."""
        self._add("GET", path, name, does)

    def post(
        self, path: str, name: str, does: Callable[..., Any], raises: Sequence[ErrorCode]
    ) -> None:
        """Create from the body."""
        self._add("POST", path, name, does, status=CREATED, raises=raises)

    def delete(
        self, path: str, name: str, does: Callable[..., Any], raises: Sequence[ErrorCode]
    ) -> None:
        """End what the path names."""
        self._add("DELETE", path, name, does, status=NO_CONTENT, raises=raises)

    def _add(  # noqa: PLR0913 - the cells of a row
        self,
        method: str,
        path: str,
        name: str,
        does: Callable[..., Any],
        *,
        status: int = OK,
        raises: Sequence[ErrorCode] = (),
    ) -> None:
        needed, takes, answer = requirement_of(does), _input_of(does), _answer_of(does)

        async def serve(who: BackOfficeCaller, asked: RawRequest) -> Document | Answer[Any]:
            with explained():
                return _shown(await does(who.staff, takes.read(asked)))

        row = Row(
            method=method,
            path=path,
            name=f"backoffice.{name}",
            summary=(inspect.getdoc(does) or "").partition("\n")[0],
            needs=needed.right,
            limits=NO_BODY if takes.body is None else WITH_BODY,
            takes=takes,
            serve=serve,
            fails=STORE_FAILS,
            raises=raises,
            document=answer,
            status=status,
            media=("application/json",),
            also={},
            tells_version=False,
        )
        (self.fresh if needed.fresh_factor else self.rows).append(row)


def _input_of(does: Callable[..., Any]) -> Input[Any]:
    """Return what a method takes after who calls it: a page, a body, or an id of the path."""
    _, given, *_ = inspect.signature(does).parameters
    kind = typing.get_type_hints(does)[given]
    if kind is Paging:
        return _PAGE
    return inputs.of_path(given) if kind is str else body(kind)


def _answer_of(does: Callable[..., Any]) -> Any:  # noqa: ANN401 - a type hint
    """Return the type of the document that a method's result becomes."""
    answer = typing.get_type_hints(does)["return"]
    if typing.get_origin(answer) is not Listed:
        return answer
    (item,) = typing.get_args(answer)
    fields = {"data": list[item], "meta": Meter}  # type: ignore[valid-type] # of a signature
    return TypedDict(f"{item.__name__}List", fields)  # type: ignore[operator] # one a noun


def _shown(result: object) -> Document | Answer[Any]:
    """Turn a method's result into a document."""
    if result is None:
        return Answer(content=None)
    if isinstance(result, Listed):
        data = [_document(each) for each in result.items]
        return {"data": data, "meta": meter(result.paging, result.total)}
    return _document(result)


def _document(struct: object) -> Mapping[str, Any]:
    """Return the fields; an instant stays one, which is written to the second."""
    fields: dict[str, Any] = msgspec.to_builtins(struct, builtin_types=(datetime,))
    return fields
