"""The callers of identity and the panel: before a sign-in, and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.domain.identity.browsers import Browser
from gateway.domain.identity.sessions import SignedInUser
from gateway.domain.requests.calls import Call
from gateway.operations.identity.ports import Visitor


@dataclass(frozen=True, slots=True)
class Guest:
    """
    Somebody before they signed in.

    Attributes:
        browser: None for callers of the interface, and for a browser without a cookie.
    """

    visitor: Visitor
    browser: Browser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """
    Somebody who signed in.

    Attributes:
        farewell: Answer headers that go with the end of their session.
    """

    person: SignedInUser
    visitor: Visitor
    browser: Browser | None = None
    farewell: Mapping[str, str] = field(default_factory=dict)


def admit_guest(call: Call) -> Guest:
    """Turn a call of nobody known into what operations take."""
    return Guest(_visitor(call), call.browser)


def admit_member(call: Call) -> Member:
    """Turn a call of a known person into what operations take."""
    if call.person is None:
        problem = "a policy of this gate is missing"
        raise RuntimeError(problem)
    return Member(person=call.person, visitor=_visitor(call), browser=call.browser)


def _visitor(call: Call) -> Visitor:
    """Say where a call comes from."""
    agent = call.asked.headers.get("User-Agent") or ""
    return Visitor(address=call.asked.address, user_agent=agent, known=call.known)
