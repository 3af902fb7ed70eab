"""Browser sessions of the panel: cookies and the port to their store."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from gateway.core.sessions import SignedInUser


class PanelState(StrEnum):
    """How far a browser has signed in."""

    ANONYMOUS = "anonymous"
    MFA_PENDING = "mfa_pending"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSession:
    """
    The session of a browser's opaque cookie; a row, unless it is ANONYMOUS.

    Attributes:
        id_hash: SHA-256 of the id half of the cookie, in hexadecimal; the row's key.
        csrf: The synchronizer token, for the life of this id.
        session_id, user_id: Of the sign-in; empty before it.
        sealed: Access token, refresh token or mfa token as JSON, encrypted under
            the secret half of the cookie; no dump of the store opens it.
        version: Rises with every refresh; a save names the one it read.
        lease_until: A refresh is under way until then.
        ends_at: The absolute end, that of the refresh token. Of a cookie that was replaced, a
            few seconds later.
        access_ends_at: When the access token ends; None in a cookie that was replaced, whose
            ``sealed`` holds the newer cookie alone.
        delivered: False in a cookie that replaced another one, until a request brings it:
            the answer that gave it may be lost.
        proven_at: When the sign-in or the code was accepted that gave this cookie, or the one
            that it renews; no later code counts with it. None before the sign-in.
    """

    id_hash: str
    state: PanelState
    csrf: str = field(repr=False)
    created_at: datetime
    seen_at: datetime
    ends_at: datetime
    session_id: str = ""
    user_id: str = ""
    sealed: bytes = field(repr=False, default=b"")
    access_ends_at: datetime | None = None
    version: int = 0
    lease_until: datetime | None = None
    delivered: bool = True
    proven_at: datetime | None = None
    address: str = ""
    user_agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """
    The two halves of an opaque cookie.

    Attributes:
        id_hash: SHA-256 of the id half in hexadecimal, the key of the row.
        secret: The other half, under which tokens are sealed; kept nowhere.
        value: Both, as the browser keeps them.
    """

    id_hash: str
    secret: bytes = field(repr=False)
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnonymousCookie:
    """
    The signed cookie of a browser before the sign-in, for which nothing is stored.

    Attributes:
        csrf: The token that belongs to it.
        created_at: To the second.
    """

    cookie: Cookie
    csrf: str = field(repr=False)
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Browser:
    """
    A browser with a valid cookie.

    Attributes:
        reads_only: Its cookie was replaced, and ``panel`` is the newer cookie's: for requests
            that were on their way, which read and change nothing.
        answer_lost: It sent a cookie that was replaced at a step-up, and gets the newer one now.
    """

    cookie: Cookie
    panel: PanelSession
    reads_only: bool = False
    answer_lost: bool = False

    @property
    def is_replaced(self) -> bool:
        """Return whether a newer cookie has replaced this one."""
        return self.panel.state is PanelState.FULL and self.panel.access_ends_at is None


@dataclass(frozen=True, slots=True)
class SignedInBrowser:
    """A browser with a signed-in user; its cookie may be newer than the one it sent."""

    browser: Browser
    person: SignedInUser


KNOWN_FOR: Final = timedelta(days=90)
"""How long a browser is known after the latest sign-in there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBrowser:
    """
    A browser in which a user has signed in before, by its device cookie.

    It proves nothing about who uses it, but wrong guesses elsewhere do not lock it out.

    Attributes:
        user_id: The one person it is known for.
        id: Names it, so that guesses in it are counted.
    """

    user_id: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientInfo:
    """
    The client of a sign-in.

    Attributes:
        address: The client address, after trusted proxies.
        panel: The tokens are for our own panel.
        bound_to: The panel session that the challenge belongs to; empty for API callers.
        known: The browser, if it was used for a sign-in before.
    """

    address: str = ""
    user_agent: str = ""
    panel: bool = False
    bound_to: str = ""
    known: KnownBrowser | None = None
