"""What identity keeps beside people: tokens, challenges, panel sessions, keys, mail."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshToken:
    """
    One refresh token of a session; only its digest is kept.

    Attributes:
        digest: HMAC-SHA-256, 32 bytes.
        number: From 1; each rotation makes the next.
        used_at: When it was exchanged; it works once.
    """

    digest: bytes
    session_id: str
    number: int
    created_at: datetime
    ends_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """
    A password was right; a second factor is asked for (contract 2.9).

    Attributes:
        digest: Of the ``mfa_token``.
        tries: Codes tried so far; the fifth wrong one ends it.
        bound_to: The panel's pre-session it was made in; empty for callers of
            the interface.
    """

    digest: bytes
    user_id: str
    created_at: datetime
    ends_at: datetime
    tries: int = 0
    used_at: datetime | None = None
    bound_to: str = ""

    def is_open(self, now: datetime, tries: int) -> bool:
        """Say whether a code may still be tried for it, of which there are ``tries``."""
        return self.used_at is None and now < self.ends_at and self.tries < tries


class Purpose(StrEnum):
    """What a link in a mail is for."""

    RESET = "reset"
    INVITATION = "invitation"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailToken:
    """What a link in a mail carries, as its SHA-256; works once."""

    digest: bytes
    purpose: Purpose
    user_id: str
    created_at: datetime
    ends_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryCode:
    """One of ten ways back in; ``digest`` is a PHC string, ``index`` 0 to 9 stands in the code."""

    user_id: str
    index: int
    digest: str = field(repr=False)
    used_at: datetime | None = None


class PanelState(StrEnum):
    """How far a browser has signed in."""

    ANONYMOUS = "anonymous"
    MFA_PENDING = "mfa_pending"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSession:
    """
    What a browser's opaque cookie stands for.

    Attributes:
        id_hash: SHA-256 of the id half of the cookie, in hexadecimal; the row's key.
        csrf: The synchronizer token, for the life of this id.
        session_id, user_id: Of the sign-in; empty before it.
        sealed: Access token, refresh token or mfa token as JSON, encrypted under
            the secret half of the cookie; no dump of the store opens it.
        version: Rises with every refresh; a save names the one it read.
        lease_until: Somebody refreshes until then.
        ends_at: The absolute end, that of the refresh token.
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
    address: str = ""
    user_agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """
    A key that signs access tokens.

    Attributes:
        id: The ``kid``.
        public: 32 bytes of Ed25519.
        sealed_private: 32 bytes in base64, encrypted with the id bound to them.
        signs_from: Published before, used from then on.
        retired_at: Published no longer; None while it is.
    """

    id: str
    public: bytes
    sealed_private: bytes = field(repr=False)
    created_at: datetime
    signs_from: datetime
    retired_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """
    Wrong passwords or codes in a row, or in a window, under one key.

    Attributes:
        key: ``account_ip``, ``ip``, ``account`` or ``factor`` and what it counts.
        count: In the window that began at ``since``.
        blocked_until: Nothing is tried before then.
        blocks: How often it was blocked, for doubling.
    """

    key: str
    count: int
    since: datetime
    blocked_until: datetime | None = None
    blocks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A message to a person; ``text`` holds links, so it is shown in the sandbox alone."""

    id: str
    to: str
    subject: str
    text: str = field(repr=False)
    created_at: datetime
    sent_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessClaims:
    """What a proven access token says: ``sub``, ``sid``, ``jti`` and ``exp``."""

    user_id: str
    session_id: str
    token_id: str
    ends_at: datetime
