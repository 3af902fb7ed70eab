"""A request on its way in: raw, then checked step by step, then admitted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from gateway.core.account import Account
from gateway.core.browsers import Browser, KnownBrowser
from gateway.core.catalogue import ErrorCode
from gateway.core.company_scope import CompanyScope
from gateway.core.headers import NO_HEADERS, Headers
from gateway.core.permissions import Permission, Principal
from gateway.core.rights import Right
from gateway.core.sessions import SignedInUser

Taken = TypeVar("Taken", covariant=True)


async def _no_body() -> bytes:
    return b""


class RawRequest(msgspec.Struct, kw_only=True):
    """
    The request as received, unchecked.

    Attributes:
        method: As sent.
        target: The path as sent, percent-encoded, without the query.
        path: Path parameters, percent-decoded once; undecodable bytes are lone
            surrogates, so that no reader lets them through.
        query: Every value of every query parameter, in order.
        authorization: Every value of the Authorization header, in order.
        content_type, content_encoding: None when the header is absent.
        headers: All of them, for the policies of surfaces that use more.
        body: Empty until the policies have let the call on, or one of them has read it.
        read_body: Waits for the body, within its size and time, for a policy that judges it.
        address: The peer's address, for throttling only.
        certificate: Reads the peer's, in DER, as our own proxy passed it on; empty for none.
        unknown_fields: How many body fields were ignored; set by the reader.
    """

    method: str = ""
    target: str = ""
    path: Mapping[str, str]
    query: Mapping[str, Sequence[str]] = msgspec.field(default_factory=dict)
    authorization: Sequence[str] = ()
    content_type: str | None = None
    content_encoding: str | None = None
    headers: Headers = NO_HEADERS
    body: bytes = b""
    read_body: Callable[[], Awaitable[bytes]] = _no_body
    address: str = ""
    certificate: Callable[[], bytes] = bytes
    unknown_fields: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A query parameter as documented: its name, JSON schema and whether it must be there."""

    name: str
    required: bool
    schema: Mapping[str, Any]
    description: str


class Call(msgspec.Struct, kw_only=True):
    """
    A request that policies check, one after the other.

    Attributes:
        needs: The permission or right of the route; None for an open route.
        quota: The name of the token bucket the route draws from.
        parameters: The query parameters of the route.
        principal, person, scope, browser, account, known: Filled in by the
            policies that establish them.
        out_of_scope: The account of the caller's company that the credential is not for;
            for the log alone.
        on_success: Done when the route has not refused; a policy asks for it.
        on_bank_call: Done before each read of a bank; a policy asks for it.
        headers: Answer headers contributed by policies, such as RateLimit.
    """

    asked: RawRequest
    needs: Permission | Right | None
    quota: str
    parameters: tuple[Parameter, ...] = ()
    principal: Principal | None = None
    person: SignedInUser | None = None
    scope: CompanyScope | None = None
    browser: Browser | None = None
    account: Account | None = None
    known: KnownBrowser | None = None
    out_of_scope: Account | None = None
    on_success: Callable[[], None] | None = None
    on_bank_call: Callable[[], None] | None = None
    headers: dict[str, str] = msgspec.field(default_factory=dict)


class Caller(msgspec.Struct, frozen=True):
    """A partner that was let through to one account."""

    principal: Principal
    account: Account


class Policy(Protocol):
    """
    One check of a call.

    A policy fills in the call to admit it, and raises ``ServiceError`` with one of ``refuses`` to
    refuse. A policy that has to wait returns an awaitable, which decides. A policy never sees the
    HTTP request.
    """

    @property
    def refuses(self) -> tuple[ErrorCode, ...]:
        """Every code it can refuse with."""
        ...

    def __call__(self, call: Call) -> Awaitable[None] | None:
        """Admit the call, raise, or return an awaitable that does either."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Input(Generic[Taken]):
    """
    A route's input: its reader and its documentation.

    Attributes:
        read: Raw input into a domain value; raises ``ServiceError`` with one
            of ``refuses``.
        body: The struct that describes a JSON body; None when none is read.
        may_be_absent: A request without any body is one with an empty object.
    """

    read: Callable[[RawRequest], Taken]
    parameters: tuple[Parameter, ...] = ()
    body: type | None = None
    refuses: tuple[ErrorCode, ...] = ()
    may_be_absent: bool = False


Value = TypeVar("Value", covariant=True)


class Ready(Generic[Value]):
    """
    An awaitable whose value is there already.

    Callers that check for this type first need no task.
    """

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __await__(self) -> Generator[None, None, Value]:
        yield from ()
        return self.value
