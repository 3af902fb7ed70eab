"""What identity works with: stores, cryptography, settings, events; all passed in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.config.identity import Tries
from gateway.core.clocks import Now
from gateway.telemetry.ports import Count, Event

if TYPE_CHECKING:  # commands import this module, and load neither SQLAlchemy nor cryptography
    from gateway.audit.store import StoredAudit
    from gateway.identity.one_time_codes import RecoveryCodes, Totp
    from gateway.identity.passwords import PasswordHasher
    from gateway.identity.stores import IdentityStore
    from gateway.identity.tokens import AccessTokens, OpaqueTokens
    from gateway.security.sealing import Sealer

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
class Crypto:
    """The cryptography of identity: hashing, codes, tokens, signatures, encryption."""

    hashing: PasswordHasher
    one_time: Totp
    recovery: RecoveryCodes
    opaque: OpaqueTokens
    access: AccessTokens
    sealing: Sealer


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
        throttles: Failed attempts before they are slowed down or blocked.
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
    throttles: Tries = field(default_factory=Tries)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityContext:
    """
    What every operation of identity works with.

    Attributes:
        new_id: Makes a UUID.
        pause: Sleeps for a number of seconds.
    """

    stores: IdentityStore
    audit: StoredAudit
    crypto: Crypto
    settings: IdentitySettings
    now: Now
    new_id: Callable[[], str]
    pause: Callable[[float], Awaitable[None]]
    events: IdentityEvents = IdentityEvents()
