"""What the panel's sessions work with: stores, cookies and settings, passed in from outside."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.companies.model import Company
from gateway.core.browsers import Cookie
from gateway.identity.context import IdentityContext
from gateway.identity.own_sessions import OwnSessions
from gateway.identity.sign_in import SignIn
from gateway.identity.token_refresh import TokenRefresh
from gateway.telemetry.ports import Event

if TYPE_CHECKING:  # as in gateway.identity.context
    from gateway.identity.cookies import PanelCookies
    from gateway.identity.store import StoredPanelSessions


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSettings:
    """
    Lifetimes of the panel's sessions.

    Attributes:
        idle: A session ends after this time without a call.
        anonymous: Lifetime of a cookie before the sign-in.
        pending: Time between the password and the code.
        renewal: A cookie of this age is renewed.
        overlap: For so long a cookie that was renewed, or replaced at a step-up, leads to
            the newer one.
        refresh_ahead: An access token with less time left is refreshed first.
        lease: Exclusive right to refresh; longer than ``refresh_timeout``, or two
            processes would refresh the same token.
        refresh_timeout: Longest duration of a refresh.
        wait_timeout: How long other calls wait for it.
        touch: ``seen_at`` is written at most this often.
    """

    idle: timedelta = timedelta(minutes=15)
    anonymous: timedelta = timedelta(minutes=15)
    pending: timedelta = timedelta(minutes=5)
    renewal: timedelta = timedelta(minutes=60)
    overlap: timedelta = timedelta(seconds=30)
    refresh_ahead: timedelta = timedelta(seconds=60)
    lease: timedelta = timedelta(seconds=15)
    refresh_timeout: timedelta = timedelta(seconds=5)
    wait_timeout: timedelta = timedelta(seconds=6)
    touch: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelContext:
    """
    What every operation on the panel's sessions works with.

    Attributes:
        identity: The context of identity itself.
        sessions: The sign-ins behind the cookies.
    """

    store: StoredPanelSessions
    find_company: Callable[[str], Awaitable[Company | None]]
    cookies: PanelCookies
    identity: IdentityContext
    sign_in: SignIn
    tokens: TokenRefresh
    sessions: OwnSessions
    settings: PanelSettings

    def seal_tokens(self, tokens: Mapping[str, str], cookie: Cookie) -> bytes:
        """Encrypt tokens for the row of a cookie."""
        return self.cookies.seal(json.dumps(tokens), cookie)

    def open_tokens(self, sealed: bytes, cookie: Cookie) -> Mapping[str, str] | None:
        """Decrypt the tokens of a cookie's row; None when they are not sealed for it."""
        text = self.cookies.open(sealed, cookie)
        return None if text is None else json.loads(text)

    def count(self, event: Event, label: str) -> None:
        """Count an event of the panel under one of its labels."""
        self.identity.events.on_outcome(event, label)
