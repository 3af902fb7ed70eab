"""Identity's stores, cryptography, settings and events; changes of users."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum

from gateway.audit.store import StoredAudit
from gateway.config.identity import Tries
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.sessions import Session
from gateway.core.user import User
from gateway.core.user_errors import NOT_POSSIBLE, TOKEN_INVALID
from gateway.identity.passkey_challenges import PasskeyChallenges
from gateway.identity.passwords import PasswordHasher
from gateway.identity.store import IdentityStore
from gateway.identity.tokens import AccessTokens, OpaqueTokens
from gateway.identity.webauthn import RelyingParty
from gateway.security.sealing import Sealer
from gateway.telemetry.ports import Count, Event

# two changes of one user at the same moment are rare, three hardly happen
_ATTEMPTS = 3

OnEvent = Callable[[str, str], None]
"""Called with a fixed word and the id of the user it is about."""


def ignore_event(event: str, about: str) -> None:
    """Do nothing: commands keep no security log."""


class LocalSignIn(StrEnum):
    """
    Whether a user may sign in here, and not only at their company's identity provider.

    BREAK_GLASS: The company has a provider, and the user is one of the few named for its outages.
    """

    FREE = "free"
    BREAK_GLASS = "break_glass"
    REFUSED = "refused"


async def sign_in_here(_user: User) -> LocalSignIn:
    """Let everybody sign in here: no company has a provider."""
    return LocalSignIn.FREE


def ignore_outcome(event: Event, label: str) -> None:
    """Do nothing: commands keep no metrics."""


@dataclass(frozen=True, slots=True)
class IdentityEvents:
    """
    Functions called at events of identity.

    Attributes:
        on_security_event: For the security log: a word, and the user's id, which is
            empty when no user is known.
        on_outcome: For the metrics: an event such as ``login``, and one of its labels.
    """

    on_security_event: OnEvent = ignore_event
    on_outcome: Count = ignore_outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Crypto:
    """The cryptography of identity: hashing, tokens, signatures, encryption."""

    hashing: PasswordHasher
    opaque: OpaqueTokens
    access: AccessTokens
    challenges: PasskeyChallenges
    sealing: Sealer


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentitySettings:
    """
    Lifetimes, limits and names.

    Attributes:
        origin: The start of every link in a mail; never taken from a request.
        issuer: The name that an authenticator app shows beside the e-mail.
        access: Lifetime of an access token.
        refresh: From the sign-in to the end of its last token; rotation does
            not extend it.
        grace: A used refresh token presented again within this time fails only
            its caller; later, it ends the session.
        sessions: Of one user at the same time; one more ends the oldest.
        challenge: Lifetime of a request for a code or a passkey.
        tries: Codes that may be tried for one challenge.
        reset: Lifetime of a link that resets a password.
        invitation: Lifetime of a link that sets the first password.
        touch: ``seen_at`` of a session is written at most this often.
        throttles: Failed attempts before they are slowed down or blocked.
    """

    origin: str
    issuer: str
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
    The dependencies of every operation of identity.

    Attributes:
        new_id: Makes a UUID.
        pause: Sleeps for a number of seconds.
        relying_party: The panel, as browsers ask for its passkeys.
        local_sign_in: Returns whether a user may sign in without their company's provider.
        os_user: The user of the operating system who runs a command; empty in a process that
            serves.
    """

    stores: IdentityStore
    audit: StoredAudit
    crypto: Crypto
    settings: IdentitySettings
    now: Now
    new_id: Callable[[], str]
    pause: Callable[[float], Awaitable[None]]
    relying_party: RelyingParty
    events: IdentityEvents = IdentityEvents()
    local_sign_in: Callable[[User], Awaitable[LocalSignIn]] = sign_in_here
    os_user: str = ""

    def audit_event(self, actor: str, word: str, subject: str, **details: str) -> AuditEvent:
        """Build an audit event dated now; ``details`` never hold a secret."""
        return AuditContext(actor, self.now).event(word, subject, details)

    def own_audit_event(self, user: User, word: str, **details: str) -> AuditEvent:
        """Build the audit event of a user's act on their own account."""
        return self.audit_event(f"user:{user.email}", word, f"user:{user.id}", **details)

    async def active_user(self, user_id: str) -> User:
        """
        Read the user of a session from the store again.

        Raises:
            ServiceError: TOKEN_INVALID for a disabled user.
        """
        user = await self.stores.users.find(user_id)
        if user is None or not user.active:
            raise ServiceError(TOKEN_INVALID, "person_disabled")
        return user

    async def change_user(
        self,
        user_id: str,
        update: Callable[[User], User],
        event_of: Callable[[User], AuditEvent],
        removes: str = "",
    ) -> User | None:
        """
        Change a user without undoing a change that was made meanwhile.

        Args:
            user_id: The user to change.
            update: Returns the user changed. It may run several times, and may refuse by raising.
            event_of: Builds the audit event from the changed user.
            removes: The id of a passkey of theirs that is deleted with it, or ``EVERY``.

        Returns:
            The user as stored. None when there is none, or others were quicker three times.
        """
        for _ in range(_ATTEMPTS):
            user = await self.stores.users.find(user_id)
            if user is None:
                return None
            # later than the change before, even when the clock of this node is behind
            at = max(self.now(), user.updated_at + user.updated_at.resolution)
            new = replace(update(user), updated_at=at)
            if (new.roles, new.companies) != (user.roles, user.companies):
                new = replace(new, access_changed_at=at)
            if await self.stores.users.replace(new, event_of(new), user.updated_at, removes):
                return new
        return None


def is_valid(session: Session, user: User) -> bool:
    """
    Return whether a session began after the latest change of its user.

    This alone ends every session after a new password, factor, role or company
    limit. Their rows are ended as well, but only so that lists show it.
    """
    return user.active and session.created_at >= user.updated_at


def changed_meanwhile() -> ServiceError:
    """Return the refusal of a change that was begun before another change of its user."""
    detail = "the account changed meanwhile; begin again"
    return ServiceError(NOT_POSSIBLE, "changed_meanwhile", detail=detail)
