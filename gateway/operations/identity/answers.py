"""What goes into and comes out of signing in."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from gateway.domain.browsers import KnownBrowser
from gateway.domain.people import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """
    Where a person comes from.

    Attributes:
        address: Of the network, as we believe it.
        panel: The tokens are for our own panel.
        bound_to: The panel's pre-session; empty for callers of the interface.
        known: The browser, where somebody has signed in there before.
    """

    address: str = ""
    user_agent: str = ""
    panel: bool = False
    bound_to: str = ""
    known: KnownBrowser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPair:
    """Tokens of one session; they are shown once and kept nowhere."""

    session_id: str
    access_token: str = field(repr=False)
    expires_at: datetime
    refresh_token: str = field(repr=False)
    refresh_expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person with a session."""

    tokens: TokenPair
    person: Person


@dataclass(frozen=True, slots=True)
class FactorAsked:
    """The password was right; a code is asked for. It names nobody (contract 2.9)."""

    mfa_token: str = field(repr=False)
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class Enrolment:
    """An authenticator app to be: both are shown once."""

    secret: str = field(repr=False)
    uri: str = field(repr=False)
