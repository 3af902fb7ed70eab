"""
Routes that run a method of a service, on every surface.

The method's signature is the input and the document of the answer, and the first paragraph of its
docstring the summary; ``requires`` of a method for staff is the right. A struct is its own
document, unless it has ``to_document(reader)``, which leaves out fields hidden from the reader. A
method that returns its result or an ``Approval`` answers 202 with the order that waits for another
user.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from types import UnionType
from typing import Annotated, Any, Final, Protocol, TypedDict, Unpack

import msgspec
from aiohttp import hdrs

from gateway.core import errors
from gateway.core.access import Requirement, Staff, requirement_of
from gateway.core.account import Account
from gateway.core.approvals import Approval, ApprovalDocument
from gateway.core.audit_context import RuleViolation
from gateway.core.browsers import Browser, ClientInfo
from gateway.core.calls import Caller, Input, Parameter, RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.permissions import Permission
from gateway.core.priority import Priority
from gateway.core.sessions import SignedInUser
from gateway.core.user_errors import NOT_FOUND, NOT_POSSIBLE
from gateway.core.versions import Expected
from gateway.core.windows import Listed, Paging
from gateway.http.common import STORE_FAILS, Meter, Total, meter
from gateway.http.rendering import document_of
from gateway.http.route import (
    OK,
    Answer,
    Document,
    Route,
    RouteLimits,
    VersionedAnswer,
    content_of,
    main_of,
)
from policies.traffic.quota import PERSON
from policies.validation.backoffice import inputs
from policies.validation.bodies import body

BODY_BYTES: Final = 64 * 1024
"""The largest body; a credential for a bank with its certificate has 32 KiB."""
CREATED: Final = 201
WAITS: Final = 202
NO_CONTENT: Final = 204
CSV: Final = "text/csv; charset=utf-8"
READS: Final = (errors.PROVIDER_NOT_CONFIGURED,)
"""Errors of every route that asks a bank."""
CHANGES: Final = (
    *READS,
    errors.PROVIDER_READ_ONLY,
    errors.BANK_REFUSED,
    errors.ALREADY_IN_USE,
)
"""Errors of every route of staff that changes something at a bank."""
REFUSED: Final = (NOT_POSSIBLE,)
TAKEN: Final = (NOT_POSSIBLE, errors.ALREADY_IN_USE)
ABSENT: Final = (NOT_FOUND,)
CHANGED: Final = (NOT_FOUND, NOT_POSSIBLE)
CONDITIONAL: Final = (*CHANGED, errors.VERSION_CHANGED)
"""Errors of changes that may name the version they are meant for, by ``If-Match``."""
_TAKEN_REASONS: Final = frozenset({"taken", "bank_account_taken"})
_JSON: Final = ("application/json",)
_OF_CALLER: Final[Mapping[Any, Callable[[Any], Any]]] = {
    Caller: lambda caller: caller,
    Account: attrgetter("account"),
    Expected: attrgetter("expected"),
    SignedInUser: attrgetter("person"),
    ClientInfo: attrgetter("client"),
    Browser: attrgetter("browser"),
    Browser | None: attrgetter("browser"),
}
"""What a method is given of its caller, by the type of the parameter."""
Takes = Mapping[str, Input[Any]]


class Shape(TypedDict, total=False):
    """
    Declarations of a route beside its method.

    Attributes:
        needs: The permission; the right of ``requires`` where it is absent. None opens the route.
        quota: The token bucket that it draws from; the user's where it is absent.
        priority: Its class under overload; that of pages where it is absent.
        takes: How parameters are read that are neither of the caller, nor a page, nor a body, nor
            a UUID of the path.
        fields: Reads a body whose fields are parameters of the method.
        shows: Turns the result into the document, with the caller; its return type is documented.
        each: Turns each item of a ``Listed`` into its document instead.
        version: Returns the version of the document, for ``ETag``.
        raises: Codes of the method itself.
        fails: Which code each exception of a port becomes; the store's alone where it is absent.
        status: The answer's status, where it is not the verb's.
        summary: For OpenAPI, where it is not the docstring's.
        media, also, waits: See ``Route``.
    """

    needs: Permission | None
    quota: str
    priority: Priority
    takes: Takes
    fields: Input[Any]
    shows: Callable[[Any, Any], Document | Answer[Any]]
    each: Callable[[Any], Document]
    version: Callable[[Any], str]
    raises: Sequence[ErrorCode]
    fails: Mapping[type[Exception], ErrorCode]
    status: int
    summary: str
    media: Sequence[str]
    also: Mapping[int, Any]
    waits: bool


class Routes:
    """
    The routes of one noun on one surface; each verb takes the fields of ``Shape`` by name.

    A method is given the parts of its caller that it has parameters for: the account of the path,
    which the caller may see, the versions that ``If-Match`` names, a signed-in user.

    Attributes:
        largest_body: The largest body of a route, in bytes.
        declared: Every route.
        staff: Those of staff and no account.
        fresh: Routes for staff that require a fresh second factor for every right.
        visible: Routes for staff at an account, in any state.
        active: Those of staff at an account that is active and verified.
        active_fresh: Such routes that also require a fresh second factor for every right.
    """

    def __init__(
        self,
        surface: str = "backoffice",
        prefix: str = "",
        body_bytes: int = BODY_BYTES,
        **usual: Unpack[Shape],
    ) -> None:
        """Set the routes' common declarations; each route may override them."""
        self._surface, self._prefix, self.largest_body = surface, prefix, body_bytes
        self._usual = usual
        self.declared: list[Route[Any]] = []
        self.staff: list[Route[Any]] = []
        self.fresh: list[Route[Any]] = []
        self.visible: list[Route[Any]] = []
        self.active: list[Route[Any]] = []
        self.active_fresh: list[Route[Any]] = []

    def get(self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]) -> None:
        """Declare a route that reads."""
        self._add("GET", path, name, does, shape)

    def post(self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]) -> None:
        """Declare a route that creates or acts."""
        self._add("POST", path, name, does, shape)

    def put(self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]) -> None:
        """Declare a route that sets."""
        self._add("PUT", path, name, does, shape)

    def patch(self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]) -> None:
        """Declare a route that changes in part."""
        self._add("PATCH", path, name, does, shape)

    def delete(
        self, path: str, name: str, does: Callable[..., Any], **shape: Unpack[Shape]
    ) -> None:
        """Declare a route that ends the record of the path."""
        self._add("DELETE", path, name, does, shape)

    def _add(self, method: str, path: str, name: str, does: Callable[..., Any], own: Shape) -> None:
        shape: Shape = {**self._usual, **own}
        needed = None if "needs" in shape else requirement_of(does)
        inputs_ = _Inputs.of(does, path, shape)
        shows = _shows(does, shape)
        main = main_of(typing.get_type_hints(shows)["return"])
        may_wait = _may_wait(typing.get_type_hints(does)["return"])
        also = {WAITS: ApprovalDocument} if may_wait else {}
        route: Route[Any] = Route(
            method=method,
            path=self._prefix + path,
            name=f"{self._surface}.{name}",
            summary=shape.get("summary") or _summary(does),
            needs=shape.get("needs") if needed is None else needed.right,
            priority=shape.get("priority", Priority.PAGES),
            limits=RouteLimits(
                shape.get("quota", PERSON), 0 if inputs_.takes.body is None else self.largest_body
            ),
            takes=inputs_.takes,
            serve=_served(does, inputs_, shows)
            if needed is None
            else _for_staff(does, inputs_, shows),
            fails=shape.get("fails", STORE_FAILS),
            raises=shape.get("raises", ()),
            document=content_of(main),
            status=own.get("status") or self._status(method, content_of(main)),
            media=shape.get("media", _JSON),
            also={**also, **shape.get("also", {})},
            tells_version=typing.get_origin(main) is VersionedAnswer,
            waits=shape.get("waits", False),
        )
        self.declared.append(route)
        if needed is not None:
            self._behind(inputs_, needed).append(route)

    def _status(self, method: str, content: Any) -> int:  # noqa: ANN401 - a type hint
        if content is type(None):
            return NO_CONTENT
        return self._usual.get("status", CREATED if method == "POST" else OK)

    def _behind(self, inputs_: _Inputs, needed: Requirement) -> list[Route[Any]]:
        if inputs_.at_account and needed.active:
            return self.active_fresh if needed.fresh_factor else self.active
        if inputs_.at_account:
            return self.visible
        return self.fresh if needed.fresh_factor else self.staff


def _served(
    does: Callable[..., Any], inputs_: _Inputs, shows: Callable[[Any, Any], Any]
) -> Callable[[Any, RawRequest], Any]:
    async def serve(who: Any, asked: RawRequest) -> Any:  # noqa: ANN401 - of any caller
        given = inputs_.takes.read(asked)
        for name, part in inputs_.of_caller:
            given[name] = part(who)
        return shows(await does(**given), who)

    return serve


def _for_staff(
    does: Callable[..., Any], inputs_: _Inputs, shows: Callable[[Any, Any], Any]
) -> Callable[[Any, RawRequest], Any]:
    may_wait = _may_wait(typing.get_type_hints(does)["return"])

    async def serve(who: Any, asked: RawRequest) -> Any:  # noqa: ANN401 - with an account or without
        with explained():
            given = inputs_.takes.read(asked)
            for name, part in inputs_.of_caller:
                given[name] = part(who)
            result = await does(who.staff, **given)
            if may_wait and isinstance(result, Approval):
                return Answer(content=result.to_document(who.staff), status=WAITS)
            return shows(result, who)

    return serve


@contextmanager
def explained() -> Iterator[None]:
    """
    Convert a broken rule to a refusal that names the rule.

    Raises:
        ServiceError: ``VALIDATION_FAILED`` with the reason; ``SVC.GTW.009``
            (409) for a name that is taken.
    """
    try:
        yield
    except RuleViolation as problem:
        error = errors.ALREADY_IN_USE if problem.reason in _TAKEN_REASONS else NOT_POSSIBLE
        detail = "" if problem.field else _sentence(str(problem))
        raise ServiceError(error, problem.reason, field=problem.field, detail=detail) from problem


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _may_wait(answer: Any) -> bool:  # noqa: ANN401 - a type hint
    """Return whether a method returns a result, or an order that waits."""
    return isinstance(answer, UnionType) and Approval in typing.get_args(answer)


def _at_once(answer: Any) -> Any:  # noqa: ANN401 - a type hint
    """Return the type of a method's result if nothing waits."""
    if not _may_wait(answer):
        return answer
    return next(each for each in typing.get_args(answer) if each is not Approval)


def _summary(does: Callable[..., Any]) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(does) or "").partition("\n\n")[0].split())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """
    The readers of a method's arguments.

    Attributes:
        takes: Readers of the inputs from the request, by name.
        of_caller: Readers of the inputs from the caller, by name.
        at_account: Whether one of the arguments is the account.
    """

    takes: Input[dict[str, Any]]
    of_caller: Sequence[tuple[str, Callable[[Any], Any]]]
    at_account: bool

    @classmethod
    def of(cls, does: Callable[..., Any], path: str, shape: Shape) -> _Inputs:
        hints, takes = typing.get_type_hints(does), shape.get("takes", {})
        names = [
            name for name in inspect.signature(does).parameters if hints.get(name) is not Staff
        ]
        of_caller = [
            (name, _OF_CALLER[hints[name]]) for name in names if hints.get(name) in _OF_CALLER
        ]
        read: dict[str, Input[Any]] = {}
        if "fields" in shape:
            read[""] = shape["fields"]
        else:
            for name in names:
                found = takes.get(name) or _input(name, hints.get(name), path)
                if found is not None:
                    read[name] = found
        return cls(
            takes=_together(read),
            of_caller=of_caller,
            at_account=any(hints.get(name) is Account for name in names),
        )


def _input(name: str, kind: Any, path: str) -> Input[Any] | None:  # noqa: ANN401 - a type hint
    """Return the reader of a parameter: a page, a UUID of the path, or a body."""
    if kind is Paging:
        return inputs.PAGE
    if f"{{{name}}}" in path:
        return inputs.of_path(name)
    is_body = isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in _OF_CALLER
    return body(kind) if is_body else None


def _together(read: Mapping[str, Input[Any]]) -> Input[dict[str, Any]]:
    """Read several inputs as one, in the order of the parameters."""
    shapes = [each for each in read.values() if each.body is not None]
    parameters: tuple[Parameter, ...] = sum((each.parameters for each in read.values()), ())
    refuses: tuple[ErrorCode, ...] = sum((each.refuses for each in read.values()), ())
    readers = [(name, each.read) for name, each in read.items()]

    def gather(asked: RawRequest) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for name, reader in readers:
            given[name] = reader(asked)
        return given

    def spread(asked: RawRequest) -> dict[str, Any]:
        taken = read[""].read(asked)
        return msgspec.structs.asdict(taken) if isinstance(taken, msgspec.Struct) else taken

    return Input(
        read=spread if "" in read else gather,
        parameters=parameters,
        body=shapes[0].body if shapes else None,
        refuses=tuple(dict.fromkeys(refuses)),
        may_be_absent=all(each.may_be_absent for each in shapes) and bool(shapes),
    )


def _shows(does: Callable[..., Any], shape: Shape) -> Callable[[Any, Any], Document | Answer[Any]]:
    """Return the function that converts a method's result to its annotated document."""
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
    """Convert a struct, a page of a list, a whole list, or nothing."""
    if answer is type(None):
        return _nothing
    if typing.get_origin(answer) not in {Listed, list}:
        of_item, kind = _of_item(answer, each)
        return _typed(of_item, kind)
    of_item, kind = _of_item(typing.get_args(answer)[0], each)
    is_whole = typing.get_origin(answer) is list
    rows = Annotated[list[kind], meaning("The rows of this page.")]  # type: ignore[valid-type] # of a signature
    fields = {"data": rows, "meta": Total if is_whole else Meter}
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
    """Return the converter of one value, and the type of its document."""
    if each is not None:
        return lambda item, _who: each(item), typing.get_type_hints(each)["return"]
    if hasattr(kind, "to_document"):
        document = typing.get_type_hints(kind.to_document)["return"]
        return lambda item, who: item.to_document(who.staff), document
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return lambda item, _who: document_of(item), kind
    return lambda item, _who: item, kind


def _typed(shows: Callable[[Any, Any], Document], document: Any) -> Callable[[Any, Any], Document]:  # noqa: ANN401 - a type hint
    shows.__annotations__ = {"return": document}
    return shows


def _nothing(_result: None, _who: object) -> Answer[None]:
    return Answer(content=None)


class Pieces(Protocol):
    """A file that is read while it is sent."""

    @property
    def first(self) -> bytes:
        """The first bytes."""

    @property
    def rest(self) -> AsyncGenerator[bytes, None] | None:
        """The further pieces; None where ``first`` is all of it."""


def kept(name: str) -> Mapping[str, str]:
    """Return the headers of a download; browsers must not guess its type."""
    return {
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
    }


def table(name: str) -> Callable[[Pieces, object], Answer[bytes]]:
    """Answer with a table of this name."""

    def shows(found: Pieces, _who: object) -> Answer[bytes]:
        return Answer(content=found.first, content_type=CSV, headers=kept(name), rest=found.rest)

    return shows
