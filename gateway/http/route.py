"""Routes, and the gates in front of them."""

from __future__ import annotations

import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Generic, TypeVar

import msgspec

from gateway.core.calls import Call, Input, Policy, RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.headers import Headers
from gateway.core.permissions import Permission
from gateway.core.priority import Priority
from gateway.core.rights import Right

Document = Mapping[str, Any] | msgspec.Struct
Who = TypeVar("Who")
Taken = TypeVar("Taken")
Result = TypeVar("Result")
Content = TypeVar("Content", bound=Document | bytes | None)

OK = 200
_EITHER = (typing.Union, UnionType)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[Content]):
    """
    An answer with headers, cookies or a status.

    Attributes:
        content: A document, bytes as they are, or nothing at all.
        content_type: Of bytes; a document is JSON.
        headers: Of this answer alone; they win over ours.
        cookies: The values of ``Set-Cookie`` that it gives beside those.
        status: Another one than the route's; the route declares it in ``also``.
        rest: The further pieces after the bytes; None where the bytes are all of it.
    """

    content: Content
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Sequence[str] = ()
    status: int | None = None
    rest: AsyncGenerator[bytes, None] | None = None


class VersionedAnswer(Answer[Content]):
    """A document and its version, as ``ETag``: a change may name it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class RouteLimits:
    """
    The limits of one call of a route.

    Attributes:
        quota: The token bucket it draws from.
        body_bytes: The largest body that is read; 0 reads none.
    """

    quota: str
    body_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[Who]):
    """
    One operation of a surface; declared by ``Routes``.

    Attributes:
        name: ``surface.operation``, the label in logs and metrics.
        path: Below the surface's prefix, parameters in braces.
        needs: The permission or right; None opens the route and must be written out.
        priority: Its class under overload.
        fails: Which code an exception of a port becomes, nearest class first.
        document: The type of the answer's content, for the OpenAPI document.
        status: The status of a successful answer.
        media: The media types its content may have.
        also: Other successful answers: documents by status.
        tells_version: Its answer carries an ``ETag``.
        waits: Its calls may wait for news; see ``core/waiting.py``.
    """

    method: str
    path: str
    name: str
    summary: str
    needs: Permission | Right | None
    priority: Priority
    limits: RouteLimits
    takes: Input[Any]
    serve: Callable[[Who, RawRequest], Awaitable[Document | Answer[Any]]]
    fails: Mapping[type[Exception], ErrorCode]
    raises: Sequence[ErrorCode]
    document: Any
    status: int
    media: Sequence[str]
    also: Mapping[int, Any]
    tells_version: bool
    waits: bool = False


def code_of(problem: Exception, fails: Mapping[type[Exception], ErrorCode]) -> ErrorCode | None:
    """Return the code of an exception, nearest class first; None without a code."""
    return next((fails[kind] for kind in type(problem).__mro__ if kind in fails), None)


def main_of(shown: Any) -> Any:  # noqa: ANN401 - type hints have no type of their own
    """Return the type of the answer with the route's own status, the first of several."""
    return typing.get_args(shown)[0] if typing.get_origin(shown) in _EITHER else shown


def content_of(shown: Any) -> Any:  # noqa: ANN401 - type hints have no type of their own
    """Return the type of the content: an ``Answer``'s type argument."""
    is_answer = typing.get_origin(shown) in {Answer, VersionedAnswer}
    return typing.get_args(shown)[0] if is_answer else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Generic[Who]):
    """
    Routes behind the same questions.

    Attributes:
        policies: Checked in this order; the first refusal is the answer.
        admits: Turns an accepted call into the caller that operations take.
        scheme: How a caller proves who they are: ``basic``, ``bearer``,
            ``session`` (a cookie); empty without authentication.
        opens: Why routes without a permission stand here; empty where none may.
    """

    policies: Sequence[Policy]
    admits: Callable[[Call], Who]
    routes: Sequence[Route[Who]]
    scheme: str = ""
    opens: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedPath:
    """
    A refused request.

    Attributes:
        target: Path and query as sent.
        is_read: The method is GET or HEAD.
    """

    target: str
    is_read: bool
    trace_id: str
    headers: Headers


Refuse = Callable[[ServiceError, Call | None, RefusedPath], Answer[bytes]]
"""Shows a refusal to a person; the call is None where no policy was asked yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """
    A part of the public interface.

    Attributes:
        prefix: Of every path, without a trailing slash.
        challenge: The ``WWW-Authenticate`` value of its 401 answers.
        body_bytes: A request that declares a larger body is refused unread.
        explains: Refusals carry ``field`` and ``reason`` beside the three fields
            of contract 2.2; for the surfaces of people.
        refuse: Shows refusals as pages; None writes contract 2.2's document.
        knows: Identifies the caller of an unknown path, for ``refuse``.
        keeps: A refusal with which the body is read all the same, for ``refuse``.
    """

    name: str
    prefix: str
    gates: Sequence[Gate[Any]]
    challenge: str
    body_bytes: int
    explains: bool = False
    refuse: Refuse | None = None
    knows: Sequence[Policy] = ()
    keeps: ErrorCode | None = None
