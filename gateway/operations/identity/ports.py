"""What identity works with: stores, cryptography, settings, events; all passed in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from gateway.domain.identity.attempt_limits import FailureCounts
from gateway.domain.identity.challenges import Challenges, Outbox
from gateway.domain.identity.panel_sessions import KnownBrowser
from gateway.domain.identity.sessions import AccessClaims, Sessions, SigningKeys
from gateway.domain.identity.users import Users
from gateway.domain.kernel.audit import Audit
from gateway.domain.kernel.clocks import Now
from gateway.telemetry.ports import Count, Event


class PasswordHashing(Protocol):
    """
    Slow digests of passwords and recovery codes.

    ``place``, ``make`` and ``matches`` raise ``ServiceError`` TOO_MANY_ATTEMPTS with
    ``Retry-After`` when there are too many.
    """

    def place(self, *, is_stranger: bool) -> AbstractContextManager[None]:
        """Hold one of the places for sign-ins; strangers have few, and are refused beyond."""
        ...

    async def make(self, password: str) -> str:
        """Return a PHC string."""
        ...

    async def matches(self, password: str, stored: str, *, is_stranger: bool = False) -> bool:
        """Compare; an empty or unreadable ``stored`` takes as long and never matches."""
        ...

    def is_outdated(self, stored: str) -> bool:
        """Say whether ``stored`` should be recomputed, which needs the password."""
        ...

    def is_common(self, password: str) -> bool:
        """Say whether this is one of the passwords that attackers try first."""
        ...


class OneTimeCodes(Protocol):
    """Codes of an authenticator app."""

    def new_secret(self) -> str:
        """Make a secret of 20 bytes, in base32."""
        ...

    def accepted_step(self, secret: str, code: str, at: datetime) -> int | None:
        """Return the 30-second step of a code, at most one away from now; None if wrong."""
        ...

    def uri(self, secret: str, email: str) -> str:
        """Return what an app scans: ``otpauth://totp/...``."""
        ...


class RecoveryCodeGenerator(Protocol):
    """Recovery codes: ``NN-XXXXX-XXXXX``."""

    def make(self) -> Sequence[str]:
        """Make ten, in the order of their numbers."""
        ...

    def read(self, text: str) -> tuple[int, str] | None:
        """Return index and normal form of a code as typed; None for anything else."""
        ...


class OpaqueTokens(Protocol):
    """Random tokens of which only digests are stored."""

    def make(self) -> str:
        """Make a token of 256 random bits."""
        ...

    def digest(self, token: str) -> bytes:
        """Return the 32 bytes stored for refresh and factor tokens; keyed."""
        ...

    def mail_digest(self, token: str) -> bytes:
        """Return the 32 bytes stored for a link in a mail."""
        ...


class AccessTokens(Protocol):
    """Signed tokens, each of one session."""

    async def issue(self, claims: AccessClaims) -> str:
        """Sign a token."""
        ...

    async def verify(self, token: str) -> AccessClaims:
        """Verify a token; ``ServiceError`` TOKEN_INVALID whatever is wrong with it."""
        ...

    def forget(self, session_id: str) -> None:
        """Drop the cached claims of a session."""
        ...


class Sealing(Protocol):
    """Encryption of secrets that must be read again."""

    def seal(self, text: str, bound_to: str) -> bytes:
        """Encrypt for one row."""
        ...

    def open(self, sealed: bytes, bound_to: str) -> str:
        """Decrypt what was sealed for that row."""
        ...


OnEvent = Callable[[str, str], None]
"""Called with a fixed word and the id of the user it is about."""


def ignore_event(event: str, about: str) -> None:
    """Do nothing: commands keep no security log."""


def ignore_outcome(event: Event, label: str) -> None:
    """Do nothing: commands keep no metrics."""


@dataclass(frozen=True, slots=True)
class IdentityEvents:
    """
    Who is called when something happens.

    Attributes:
        on_security_event: For the security log: a word, and the user's id, which is
            empty when nobody is known.
        on_outcome: For the metrics: an event such as ``login``, and one of its labels.
    """

    on_security_event: OnEvent = ignore_event
    on_outcome: Count = ignore_outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The stores of identity."""

    users: Users
    sessions: Sessions
    challenges: Challenges
    failures: FailureCounts
    outbox: Outbox
    signing_keys: SigningKeys
    audit: Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class Crypto:
    """The cryptography of identity: hashing, codes, tokens, signatures, encryption."""

    hashing: PasswordHashing
    one_time: OneTimeCodes
    recovery: RecoveryCodeGenerator
    opaque: OpaqueTokens
    access: AccessTokens
    sealing: Sealing


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLimits:
    """
    How many failed attempts are allowed before they are slowed down or blocked.

    Attributes:
        account_ip: Wrong passwords for one account from one address within
            ``account_ip_window``; then a block of ``shortest_block``, doubling
            up to ``longest_block``.
        address: Wrong passwords from one address within ``address_window``; then
            refused until that window is over.
        account: Wrong passwords for one account from anywhere within an hour; then
            each further try is delayed by ``delay``.
        consecutive: Wrong passwords in a row; then only a reset helps.
        factor: Wrong codes in a row; then a block of ``longest_block``.
        resets: Reset links of one account that are valid at the same time.
        address_resets: Reset links requested from one address within an hour.
        device: Wrong passwords within an hour in a browser known for the user; then
            it counts like any other browser.
    """

    # a user who mistypes a known password succeeds within five tries
    account_ip: int = 5
    account_ip_window: timedelta = timedelta(minutes=15)
    shortest_block: timedelta = timedelta(seconds=30)
    longest_block: timedelta = timedelta(minutes=15)
    # an office behind one address may sign in together on a Monday morning
    address: int = 20
    address_window: timedelta = timedelta(minutes=5)
    # many addresses, one account: slowed down, so that its owner is not locked out
    account: int = 50
    delay: timedelta = timedelta(seconds=5)
    # NIST 800-63B, part 5.2.2: no more than 100 in a row
    consecutive: int = 100
    factor: int = 10
    resets: int = 3
    address_resets: int = 10
    device: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentitySettings:
    """
    Lifetimes and limits.

    Attributes:
        origin: The start of every link in a mail; never taken from a request.
        access: Lifetime of an access token.
        refresh: From the sign-in to the end of its last token; rotation does
            not extend it.
        grace: A used refresh token presented again within this time fails only
            its caller; later, it ends the session.
        sessions: Of one user at the same time; one more ends the oldest.
        challenge: Lifetime of a request for a code.
        tries: Codes that may be tried for one challenge.
        reset: Lifetime of a link that resets a password.
        invitation: Lifetime of a link that sets the first password.
        touch: ``seen_at`` of a session is written at most this often.
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
    touch: timedelta = timedelta(minutes=1)
    throttles: AttemptLimits = AttemptLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityContext:
    """
    What every operation of identity works with.

    Attributes:
        new_id: Makes a UUID.
        pause: Sleeps for a number of seconds.
    """

    stores: Stores
    crypto: Crypto
    settings: IdentitySettings
    now: Now
    new_id: Callable[[], str]
    pause: Callable[[float], Awaitable[None]]
    events: IdentityEvents = IdentityEvents()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientInfo:
    """
    The client of a sign-in.

    Attributes:
        address: The client address, after trusted proxies.
        panel: The tokens are for our own panel.
        bound_to: The panel session that the challenge belongs to; empty for API callers.
        known: The browser, if somebody has signed in there before.
    """

    address: str = ""
    user_agent: str = ""
    panel: bool = False
    bound_to: str = ""
    known: KnownBrowser | None = None
