"""
Routes that run a service method.

The method's ``requires`` is the right, its signature the input and the document of the answer,
and the first paragraph of its docstring the summary. A struct is its own document, unless it has
``to_document(reader)``, which leaves out what the reader may not see. A method that returns its
result or an ``Approval`` answers 202 with the order that waits for another user.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Final, TypedDict, Unpack

import msgspec
from aiohttp import hdrs

from gateway.core.access import Requirement, requirement_of
from gateway.core.account import Account
from gateway.core.approvals import Approval, ApprovalDocument
from gateway.core.calls import Input, Parameter, RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.versions import Expected
from gateway.core.windows import Listed, Paging
from gateway.http.backoffice.callers import AccountCaller, BackOfficeCaller, explained
from gateway.http.common import STORE_FAILS, Meter, Total, meter
from gateway.http.rendering import document_of
from gateway.http.route import (
    OK,
    Answer,
    Document,
    Row,
    RowLimits,
    VersionedAnswer,
    content_of,
    main_of,
)
from policies.traffic.quota import PERSON
from policies.validation.backoffice import inputs
from policies.validation.bodies import body

BODY_BYTES: Final = 64 * 1024
"""As on banking: the largest body, a credential for a bank with its certificate, has 32 KiB."""
NO_BODY: Final = RowLimits(PERSON, 0)
WITH_BODY: Final = RowLimits(PERSON, BODY_BYTES)
CREATED: Final = 201
WAITS: Final = 202
NO_CONTENT: Final = 204

_JSON: Final = ("application/json",)
Takes = Mapping[str, Input[Any]]


class Shape(TypedDict, total=False):
    """
    What a route declares beside its method, where that does not say it.

    Attributes:
        takes: How parameters are read that are neither a page, nor a body, nor a UUID of the path.
        shows: Turns the result into the document, with the caller; its return type is documented.
        each: Turns each item of a ``Listed`` into its document instead.
        version: Returns the version of what is shown, for ``ETag``.
        raises: Codes of the method itself.
        fails: Which code each exception of a port becomes; the store's alone where it is absent.
        status: Of the answer, where it is not that of the verb.
        media, also: See ``Row``.
    """

    takes: Takes
    shows: Callable[[Any, Any], Document | Answer[Any]]
    each: Callable[[Any], Document]
    version: Callable[[Any], str]
    raises: Sequence[ErrorCode]
    fails: Mapping[type[Exception], ErrorCode]
    status: int
    media: Sequence[str]
    also: Mapping[int, Any]


class Routes:
    """
    The routes of one noun; each verb takes the fields of ``Shape`` by name.

    A method that takes an ``account`` is given the one of the path, which the caller may see, and
    one that takes ``expected`` the versions that ``If-Match`` names.

    Attributes:
        staff: Those of no account.
        fresh: Those that ask for a fresh second factor whatever the right.
        visible: Of one account, in whatever state it is.
        banking: Of one that is active and verified.
    """

    def __init__(self, **usual: Unpack[Shape]) -> None:
        """Know what most of the routes declare; each may declare something else."""
        self._usual = usual
        self.staff: list[Row[BackOfficeCaller]] = []
        self.fresh: list[Row[BackOfficeCaller]] = []
        self.visible: list[Row[AccountCaller]] = []
        self.banking: list[Row[AccountCaller]] = []

    def get(self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]) -> None:
        """Read."""
        self._add("GET", path, name, does, OK, shape)

    def post(self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]) -> None:
        """Create, or do."""
        self._add("POST", path, name, does, CREATED, shape)

    def put(self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]) -> None:
        """Set."""
        self._add("PUT", path, name, does, OK, shape)

    def patch(self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]) -> None:
        """Change in part."""
        self._add("PATCH", path, name, does, OK, shape)

    def delete(
        self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]
    ) -> None:
        """End what the path names."""
        self._add("DELETE", path, name, does, NO_CONTENT, shape)

    def _add(  # noqa: PLR0913, PLR0917 - the cells of a row
        self,
        method: str,
        path: str,
        name: str,
        does: Callable[..., Any],
        status: int,
        shape: Shape,
    ) -> None:
        needed, shape = requirement_of(does), {**self._usual, **shape}
        given = _Given.of(does, path, shape.get("takes", {}))
        shows = _shows(does, shape)
        main = main_of(typing.get_type_hints(shows)["return"])
        may_wait = _may_wait(typing.get_type_hints(does)["return"])
        also = {WAITS: ApprovalDocument} if may_wait else {}

        async def serve(who: Any, asked: RawRequest) -> Document | Answer[Any]:  # noqa: ANN401 - either caller
            with explained():
                result = await does(who.staff, **given.read(who, asked))
                if may_wait and isinstance(result, Approval):
                    return waiting(result, who)
                return shows(result, who)

        row: Row[Any] = Row(
            method=method,
            path=path,
            name=f"backoffice.{name}",
            summary=_summary(does),
            needs=needed.right,
            limits=NO_BODY if given.takes.body is None else WITH_BODY,
            takes=given.takes,
            serve=serve,
            fails=shape.get("fails", STORE_FAILS),
            raises=shape.get("raises", ()),
            document=content_of(main),
            status=shape.get("status", status),
            media=shape.get("media", _JSON),
            also={**also, **shape.get("also", {})},
            tells_version=typing.get_origin(main) is VersionedAnswer,
        )
        self._gate(given, needed).append(row)

    def _gate(self, given: _Given, needed: Requirement) -> list[Row[Any]]:
        """Choose the gate."""
        if given.account:
            return self.banking if needed.active else self.visible
        return self.fresh if needed.fresh_factor else self.staff


def _may_wait(answer: Any) -> bool:  # noqa: ANN401 - a type hint
    """Say whether a method returns something, or an order that waits for it."""
    return isinstance(answer, UnionType) and Approval in typing.get_args(answer)


def _at_once(answer: Any) -> Any:  # noqa: ANN401 - a type hint
    """Return the type of what a method returns where nothing waits."""
    if not _may_wait(answer):
        return answer
    return next(each for each in typing.get_args(answer) if each is not Approval)


def _summary(does: Callable[..., Any]) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(does) or "").partition("\n\n")[0].split())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """
    What a method is given after who calls it.

    Attributes:
        takes: Reads what comes from the request, by the names of parameters.
        account, expected: The method takes the one of that name.
    """

    takes: Input[Mapping[str, Any]]
    account: bool
    expected: bool

    @classmethod
    def of(cls, does: Callable[..., Any], path: str, takes: Takes) -> _Given:
        """Read the signature of a method."""
        hints, (_, *names) = typing.get_type_hints(does), inspect.signature(does).parameters
        read = {
            name: found
            for name in names
            if (found := takes.get(name) or _input(name, hints.get(name), path)) is not None
        }
        return cls(
            takes=_together(read),
            account=any(hints.get(name) is Account for name in names),
            expected=any(hints.get(name) is Expected for name in names),
        )

    def read(self, who: BackOfficeCaller | AccountCaller, asked: RawRequest) -> Mapping[str, Any]:
        """Return the arguments by name."""
        given = dict(self.takes.read(asked))
        if self.account and isinstance(who, AccountCaller):
            given["account"] = who.account
        if self.expected:
            given["expected"] = who.expected
        return given


def _input(name: str, kind: Any, path: str) -> Input[Any] | None:  # noqa: ANN401 - a type hint
    """Return how a parameter is read: a page, a UUID of the path, or a body."""
    if kind is Paging:
        return inputs.PAGE
    if f"{{{name}}}" in path:
        return inputs.of_path(name)
    is_body = isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind is not Account
    return body(kind) if is_body else None


def _together(read: Mapping[str, Input[Any]]) -> Input[Mapping[str, Any]]:
    """Read several inputs as one, in the order of the parameters."""
    shapes = [each for each in read.values() if each.body is not None]
    parameters: tuple[Parameter, ...] = sum((each.parameters for each in read.values()), ())
    refuses: tuple[ErrorCode, ...] = sum((each.refuses for each in read.values()), ())
    return Input(
        read=lambda asked: {name: each.read(asked) for name, each in read.items()},
        parameters=parameters,
        body=shapes[0].body if shapes else None,
        refuses=tuple(dict.fromkeys(refuses)),
        may_be_absent=all(each.may_be_absent for each in shapes) and bool(shapes),
    )


def _shows(does: Callable[..., Any], shape: Shape) -> Callable[[Any, Any], Document | Answer[Any]]:
    """Return what turns a method's result into its document, annotated with the type of that."""
    plain = shape.get("shows") or _shown(
        _at_once(typing.get_type_hints(does)["return"]), shape.get("each")
    )
    version = shape.get("version")
    if version is None:
        return plain

    def versioned(result: Any, who: Any) -> VersionedAnswer[Any]:  # noqa: ANN401 - of any method
        content: Any = plain(result, who)
        return VersionedAnswer(content=content, headers={hdrs.ETAG: version(result)})

    main = typing.get_type_hints(plain)["return"]
    versioned.__annotations__["return"] = VersionedAnswer[main]  # type: ignore[valid-type] # of a signature
    return versioned


def _shown(
    answer: Any,  # noqa: ANN401 - a type hint
    each: Callable[[Any], Document] | None,
) -> Callable[[Any, Any], Document | Answer[Any]]:
    """Show a struct, a page of a list, a whole list, or nothing."""
    if answer is type(None):
        return _nothing
    if typing.get_origin(answer) not in {Listed, list}:
        of_item, kind = _of_item(answer, each)
        return _typed(of_item, kind)
    of_item, kind = _of_item(typing.get_args(answer)[0], each)
    is_whole = typing.get_origin(answer) is list
    fields = {"data": list[kind], "meta": Total if is_whole else Meter}  # type: ignore[valid-type] # of a signature
    called = f"{kind.__name__.removesuffix('Document')}List"
    document = TypedDict(called, fields)  # type: ignore[misc] # one a noun
    if is_whole:
        return _typed(
            lambda found, who: {
                "data": [of_item(one, who) for one in found],
                "meta": {"total": len(found)},
            },
            document,
        )
    return _typed(
        lambda found, who: {
            "data": [of_item(one, who) for one in found.items],
            "meta": meter(found.paging, found.total),
        },
        document,
    )


def _of_item(
    kind: Any,  # noqa: ANN401 - a type hint
    each: Callable[[Any], Document] | None,
) -> tuple[Callable[[Any, Any], Document], Any]:
    """Return what shows one value, and the type of its document."""
    if each is not None:
        return lambda item, _who: each(item), typing.get_type_hints(each)["return"]
    if hasattr(kind, "to_document"):
        document = typing.get_type_hints(kind.to_document)["return"]
        return lambda item, who: item.to_document(who.staff), document
    return lambda item, _who: document_of(item), kind


def _typed(shows: Callable[[Any, Any], Document], document: Any) -> Callable[[Any, Any], Document]:  # noqa: ANN401 - a type hint
    """Annotate what shows a result with the type of the document."""
    shows.__annotations__ = {"return": document}
    return shows


def _nothing(_result: None, _who: object) -> Answer[None]:
    """Answer without content."""
    return Answer(content=None)


def waiting(found: Approval, who: BackOfficeCaller | AccountCaller) -> Answer[ApprovalDocument]:
    """Answer that an order waits for another user."""
    return Answer(content=found.to_document(who.staff), status=WAITS)
