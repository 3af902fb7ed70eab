"""Users of the operator, and their second factors."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from gateway.core.rights import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Totp:
    """
    An authenticator app.

    Attributes:
        sealed_secret: Encrypted with the user id bound to it.
        confirmed_at: When its first code was shown; None while it waits for that.
        last_step: The 30-second step of the last accepted code, which is not
            accepted again, nor is an earlier one; 0 for none.
    """

    sealed_secret: bytes = field(repr=False)
    confirmed_at: datetime | None = None
    last_step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """
    How the panel is shown to a person; None where they have not chosen.

    Attributes:
        language: A language tag.
        theme: The panel's word for it.
        single_keys: Keys without a modifier shorten ways (WCAG 2.1.4 lets them be off).
    """

    language: str | None = None
    theme: str | None = None
    single_keys: bool | None = None


NOTHING_CHOSEN: Final = Preferences()


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    A user's name and rights.

    Attributes:
        email: In lower case; unique.
        companies: The only ones this user sees; empty for all.
        preferences: How the panel is shown to them; ``prefer`` of the store alone changes it.
    """

    email: str
    name: str
    roles: frozenset[Role]
    companies: frozenset[str]
    preferences: Preferences = NOTHING_CHOSEN


@dataclass(frozen=True, slots=True, kw_only=True)
class User(Profile):
    """
    A user as stored.

    Attributes:
        id: A lower-case UUID.
        password: A PHC string of Argon2id; empty until the invitation is accepted.
        active: False keeps the user out; their sessions have ended.
        totp: None without an authenticator app.
        passkey_at: When the newest of their passkeys was registered; None without one. Read from
            the passkeys, and never written by itself.
        factor_reset: The second factor was taken away and must be enrolled anew.
        access_changed_at: When roles or companies last changed; None for never.
        issuer, subject: Who they are at their company's identity provider; None for a user who
            has never signed in there.
    """

    id: str
    password: str = field(repr=False, default="")
    active: bool = True
    totp: Totp | None = None
    passkey_at: datetime | None = None
    factor_reset: bool = False
    access_changed_at: datetime | None = None
    issuer: str | None = None
    subject: str | None = None
    created_at: datetime
    updated_at: datetime

    @property
    def has_app(self) -> bool:
        """Return whether an authenticator app is enrolled."""
        return self.totp is not None and self.totp.confirmed_at is not None

    @property
    def has_passkey(self) -> bool:
        """Return whether a passkey is registered."""
        return self.passkey_at is not None

    @property
    def has_factor(self) -> bool:
        """Return whether signing in requires a second factor."""
        return self.enrolled_at is not None

    @property
    def enrolled_at(self) -> datetime | None:
        """When the newest second factor was enrolled, app or passkey; None without one."""
        confirmed_at = self.totp.confirmed_at if self.totp is not None else None
        known = [each for each in (confirmed_at, self.passkey_at) if each is not None]
        return max(known, default=None)

    @property
    def state(self) -> Literal["active", "disabled", "invited"]:
        """Whether the user can sign in, is disabled, or has yet to accept the invitation."""
        if not self.active:
            return "disabled"
        return "active" if self.password or self.subject else "invited"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryCode:
    """One of ten ways back in; ``digest`` is a PHC string, ``index`` 0 to 9 stands in the code."""

    user_id: str
    index: int
    digest: str = field(repr=False)
    used_at: datetime | None = None


def same_name(person: str) -> str:
    """Return a user's name normalised in spaces and case, as opinions store it."""
    return " ".join(person.casefold().split())
