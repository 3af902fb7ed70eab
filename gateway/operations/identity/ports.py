"""What identity works with: stores, cryptography, rules and callbacks, all given from outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from gateway.domain.identity.browsers import KnownBrowser
from gateway.domain.identity.challenges import Challenges
from gateway.domain.identity.failure_counts import FailureCounts
from gateway.domain.identity.mail import Outbox
from gateway.domain.identity.sessions import AccessClaims, Sessions
from gateway.domain.identity.signing_keys import SigningKeys
from gateway.domain.identity.users import Users
from gateway.domain.kernel.audit import Audit
from gateway.domain.kernel.clocks import Now


class PasswordHashing(Protocol):
    """
    Slow digests of passwords and recovery codes.

    ``make`` and ``matches`` raise ``ServiceError`` TOO_MANY_ATTEMPTS with
    ``Retry-After`` when too many wait already.
    """

    async def make(self, password: str) -> str:
        """Return a PHC string."""
        ...

    async def matches(self, password: str, stored: str) -> bool:
        """Compare; an empty or unreadable ``stored`` costs the same and never matches."""
        ...

    def is_outdated(self, stored: str) -> bool:
        """Say whether ``stored`` should be made anew, which takes the password."""
        ...

    def is_common(self, password: str) -> bool:
        """Say whether everybody tries this one first."""
        ...


class OneTimeCodes(Protocol):
    """Codes of an authenticator app."""

    def new_secret(self) -> str:
        """Make a secret of 20 bytes, in base32."""
        ...

    def accepted_step(self, secret: str, code: str, at: datetime) -> int | None:
        """Return the 30-second step a code is of, at most one away from now; None: wrong."""
        ...

    def uri(self, secret: str, email: str) -> str:
        """Write what an app scans: ``otpauth://totp/...``."""
        ...


class RecoveryCodeGenerator(Protocol):
    """Recovery codes: ``NN-XXXXX-XXXXX``."""

    def make(self) -> Sequence[str]:
        """Make ten, in the order of their numbers."""
        ...

    def read(self, text: str) -> tuple[int, str] | None:
        """Return index and normal form of one as typed; None when it is no such code."""
        ...


class OpaqueTokens(Protocol):
    """Random tokens of which only digests are kept."""

    def make(self) -> str:
        """Make one of 256 random bits."""
        ...

    def digest(self, token: str) -> bytes:
        """Return the 32 bytes kept of refresh and factor tokens; keyed."""
        ...

    def mail_digest(self, token: str) -> bytes:
        """Return the 32 bytes kept of a link in a mail."""
        ...


class AccessTokens(Protocol):
    """Signed tokens that name a session."""

    async def issue(self, claims: AccessClaims) -> str:
        """Sign one."""
        ...

    async def verify(self, token: str) -> AccessClaims:
        """Prove one; ``ServiceError`` TOKEN_INVALID whatever is wrong with it."""
        ...

    def forget(self, session_id: str) -> None:
        """Drop what is remembered of the tokens of a session."""
        ...


class Sealing(Protocol):
    """Encryption of what must be read again."""

    def seal(self, text: str, bound_to: str) -> bytes:
        """Encrypt for one row."""
        ...

    def open(self, sealed: bytes, bound_to: str) -> str:
        """Decrypt what was sealed for that row."""
        ...


OnSecurityEvent = Callable[[str, str], None]
"""Tell the security log and the metrics: a fixed word, and the user's id or nothing."""


def ignore_event(word: str, user_id: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Where identity is kept."""

    users: Users
    sessions: Sessions
    challenges: Challenges
    failures: FailureCounts
    outbox: Outbox
    signing_keys: SigningKeys
    audit: Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class Crypto:
    """What identity can do: hash, make codes and tokens, sign, encrypt."""

    hashing: PasswordHashing
    one_time: OneTimeCodes
    recovery: RecoveryCodeGenerator
    opaque: OpaqueTokens
    access: AccessTokens
    sealing: Sealing


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLimits:
    """
    How often a person may be wrong.

    Attributes:
        account_ip: Wrong passwords for one account from one address in
            ``account_ip_window``; then a block of ``shortest_block``, doubling
            up to ``longest_block``.
        address: Wrong passwords from one address in ``address_window``; then
            refused until that window is over.
        account: Wrong passwords for one account from anywhere in an hour; then
            each further try is held for ``delay``.
        consecutive: Wrong passwords in a row; then only a reset helps.
        factor: Wrong codes in a row; then a block of ``longest_block``.
        resets: Links for one account that work at the same time.
        address_resets: Links asked for in an hour, from one address.
        device: Wrong passwords in an hour in a browser known for the person; then
            it counts as any other.
    """

    account_ip: int = 5
    account_ip_window: timedelta = timedelta(minutes=15)
    shortest_block: timedelta = timedelta(seconds=30)
    longest_block: timedelta = timedelta(minutes=15)
    address: int = 20
    address_window: timedelta = timedelta(minutes=5)
    account: int = 50
    delay: timedelta = timedelta(seconds=5)
    consecutive: int = 100
    factor: int = 10
    resets: int = 3
    address_resets: int = 10
    device: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentitySettings:
    """
    How long things last.

    Attributes:
        origin: What links in mails begin with; never taken from a request.
        access: Of an access token.
        refresh: From the sign-in to the end of its last token; rotation does
            not move it.
        grace: A used refresh token shown again within it fails only its caller.
        sessions: At once, for one person; the oldest ends.
        fresh: How long a second factor counts as just given.
    """

    origin: str
    access: timedelta = timedelta(minutes=10)
    refresh: timedelta = timedelta(hours=8)
    grace: timedelta = timedelta(seconds=10)
    sessions: int = 5
    challenge: timedelta = timedelta(minutes=5)
    tries: int = 5
    reset: timedelta = timedelta(minutes=30)
    invitation: timedelta = timedelta(hours=72)
    fresh: timedelta = timedelta(minutes=5)
    touch: timedelta = timedelta(minutes=1)
    throttles: AttemptLimits = AttemptLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityContext:
    """
    Everything an operation on people works with.

    Attributes:
        new_id: Makes a UUID.
        pause: Waits so many seconds.
    """

    stores: Stores
    crypto: Crypto
    settings: IdentitySettings
    now: Now
    new_id: Callable[[], str]
    pause: Callable[[float], Awaitable[None]]
    on_security_event: OnSecurityEvent = ignore_event


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientInfo:
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
