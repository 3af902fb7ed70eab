"""The callers of identity and the panel: before a sign-in, and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.core.browsers import Browser, ClientInfo
from gateway.core.calls import Call
from gateway.core.sessions import SignedInUser


@dataclass(frozen=True, slots=True)
class AnonymousCaller:
    """
    A caller who has not signed in.

    Attributes:
        browser: None for API callers, and for a browser without a cookie.
    """

    client: ClientInfo
    browser: Browser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInCaller:
    """
    A caller who has signed in.

    Attributes:
        logout_headers: Response headers for answers that end the session.
    """

    person: SignedInUser
    client: ClientInfo
    browser: Browser | None = None
    logout_headers: Mapping[str, str] = field(default_factory=dict)


def admit_anonymous(call: Call) -> AnonymousCaller:
    """Return the caller of a call before the sign-in."""
    return AnonymousCaller(_client(call), call.browser)


def admit_signed_in(call: Call) -> SignedInCaller:
    """Return the caller of a call that was authenticated."""
    if call.person is None:
        problem = "a policy of this gate is missing"
        raise RuntimeError(problem)
    return SignedInCaller(person=call.person, client=_client(call), browser=call.browser)


def _client(call: Call) -> ClientInfo:
    """Return the client of a call."""
    agent = call.asked.headers.get("User-Agent") or ""
    return ClientInfo(address=call.asked.address, user_agent=agent, known=call.known)
