"""What the panel's sessions work with: stores, cookies and rules, all given from outside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from gateway.domain.accounts.accounts import Companies
from gateway.domain.identity.browsers import Cookie
from gateway.domain.identity.panel_sessions import PanelSessions
from gateway.domain.identity.sessions import SignedInUser
from gateway.operations.identity.ports import IdentityContext
from gateway.operations.identity.sign_in import Tokens, WayIn


class CookieCrypto(Protocol):
    """Opaque cookies, and what is sealed for them."""

    def make(self) -> Cookie:
        """Make a new one."""
        ...

    def read(self, value: str) -> Cookie | None:
        """Read one as a browser sends it; None for anything of another form."""
        ...

    def new_csrf(self) -> str:
        """Make a synchronizer token of 256 bits."""
        ...

    def seal(self, text: str, cookie: Cookie) -> bytes:
        """Encrypt for a cookie's row."""
        ...

    def open(self, sealed: bytes, cookie: Cookie) -> str | None:
        """Decrypt; None for what was changed, or sealed for another cookie."""
        ...


class SignIns(Protocol):
    """Sign-ins, as ``OwnSessions`` keeps them."""

    async def authenticate(self, access_token: str) -> SignedInUser:
        """Return who calls."""
        ...

    async def logout(self, caller: SignedInUser) -> None:
        """End this sign-in."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSettings:
    """
    How long things of a browser last.

    Attributes:
        idle: Without a call of the panel.
        waiting: Of a cookie before anybody signs in.
        pending: Between the password and the code.
        renewal: Then the cookie is renewed, and the old one lives for ``overlap``
            more, for what was sent with it at the same time.
        ahead: An access token with less is refreshed first.
        lease: Of the right to refresh; longer than ``call``, or two would do it.
        call: Refreshing itself.
        patience: How long other calls wait for it.
        touch: The idle time slides at most so often.
    """

    idle: timedelta = timedelta(minutes=15)
    waiting: timedelta = timedelta(minutes=15)
    pending: timedelta = timedelta(minutes=5)
    renewal: timedelta = timedelta(minutes=60)
    overlap: timedelta = timedelta(seconds=30)
    ahead: timedelta = timedelta(seconds=60)
    lease: timedelta = timedelta(seconds=15)
    call: timedelta = timedelta(seconds=5)
    patience: timedelta = timedelta(seconds=6)
    touch: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelContext:
    """
    Everything an operation on the panel's sessions works with.

    Attributes:
        identity: The parts of identity itself.
        seen: Counts: a fixed word, and one of its labels.
    """

    store: PanelSessions
    companies: Companies
    cookies: CookieCrypto
    identity: IdentityContext
    signing_in: WayIn
    refreshing: Tokens
    sign_ins: SignIns
    settings: PanelSettings
    seen: Callable[[str, str], None]

    def sealed(self, content: Mapping[str, str], cookie: Cookie) -> bytes:
        """Seal tokens for a cookie's row."""
        return self.cookies.seal(json.dumps(content), cookie)

    def opened(self, sealed: bytes, cookie: Cookie) -> Mapping[str, str] | None:
        """Open what was sealed for a cookie's row; None for what was not."""
        text = self.cookies.open(sealed, cookie)
        return None if text is None else json.loads(text)
