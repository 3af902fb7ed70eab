"""The callers of identity and the panel: before a sign-in, and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.domain.identity.browsers import Browser
from gateway.domain.identity.sessions import SignedInUser
from gateway.domain.requests.calls import Call
from gateway.operations.identity.ports import ClientInfo


@dataclass(frozen=True, slots=True)
class AnonymousCaller:
    """
    Somebody before they signed in.

    Attributes:
        browser: None for callers of the interface, and for a browser without a cookie.
    """

    client: ClientInfo
    browser: Browser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInCaller:
    """
    Somebody who signed in.

    Attributes:
        farewell: Answer headers that go with the end of their session.
    """

    person: SignedInUser
    client: ClientInfo
    browser: Browser | None = None
    logout_headers: Mapping[str, str] = field(default_factory=dict)


def admit_anonymous(call: Call) -> AnonymousCaller:
    """Turn a call of nobody known into what operations take."""
    return AnonymousCaller(_visitor(call), call.browser)


def admit_signed_in(call: Call) -> SignedInCaller:
    """Turn a call of a known person into what operations take."""
    if call.person is None:
        problem = "a policy of this gate is missing"
        raise RuntimeError(problem)
    return SignedInCaller(person=call.person, client=_visitor(call), browser=call.browser)


def _visitor(call: Call) -> ClientInfo:
    """Say where a call comes from."""
    agent = call.asked.headers.get("User-Agent") or ""
    return ClientInfo(address=call.asked.address, user_agent=agent, known=call.known)
