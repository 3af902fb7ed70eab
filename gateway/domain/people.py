"""The operator's people: who they are, how they signed in, and what they may do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from gateway.domain.permissions import Action
from gateway.domain.rights import Area, Right, Role, rights_of

_ADDING = Right(Area.COMPANY, Action.MANAGE)


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
class User:
    """
    A person as stored.

    Attributes:
        id: A lower-case UUID.
        email: In lower case; nobody else has it.
        password: A PHC string of Argon2id; empty until the invitation is accepted.
        companies: The only ones this person sees; empty for all.
        active: False keeps the person out; their sessions have ended.
        totp: None while there is no second factor.
        factor_reset: The second factor was taken away and must be enrolled anew.
    """

    id: str
    email: str
    name: str
    password: str = field(repr=False)
    roles: frozenset[Role]
    companies: frozenset[str] = frozenset()
    active: bool = True
    totp: Totp | None = None
    factor_reset: bool = False
    created_at: datetime
    updated_at: datetime

    @property
    def has_factor(self) -> bool:
        """Say whether signing in takes a second factor."""
        return self.totp is not None and self.totp.confirmed_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """
    A sign-in; every token names it and dies with it.

    Attributes:
        id: A lower-case UUID, the ``sid`` of tokens.
        ends_at: At the latest, eight hours after the sign-in; rotation does not
            move it.
        factor_at: When a second factor was last given; None never.
        ended_at, ended_by: Set once; ``ended_by`` is a fixed word.
        panel: It belongs to a browser; its tokens never leave us.
    """

    id: str
    user_id: str
    created_at: datetime
    ends_at: datetime
    seen_at: datetime
    factor_at: datetime | None = None
    address: str = ""
    user_agent: str = ""
    panel: bool = False
    ended_at: datetime | None = None
    ended_by: str = ""

    def is_live(self, now: datetime) -> bool:
        """Say whether it still holds."""
        return self.ended_at is None and now < self.ends_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who signed in, as every call knows them."""

    user_id: str
    email: str
    name: str
    roles: frozenset[Role]
    companies: frozenset[str]
    session_id: str
    factor_at: datetime | None
    has_factor: bool

    @property
    def actor(self) -> str:
        """How the audit log names them."""
        return f"user:{self.email}"

    @property
    def rights(self) -> frozenset[Right]:
        """
        What they may do; where they are limited to companies, on what is of these.

        Adding a company is for people who see all of them.
        """
        held = rights_of(self.roles)
        return frozenset(map(_on_their_own, held)) if self.companies else held

    def may(self, needed: Right) -> bool:
        """Say whether a right of theirs covers one."""
        return any(right.covers(needed) for right in self.rights)

    def lacks_factor(self, roles: Collection[Role]) -> bool:
        """Say whether a role of theirs is one of those that ask for a factor they have not."""
        return not self.has_factor and any(role in roles for role in self.roles)

    def sees(self, company_id: str) -> bool:
        """Say whether a company's things are shown to them."""
        return not self.companies or company_id in self.companies


def _on_their_own(right: Right) -> Right:
    """Return what is left of a right for somebody limited to companies."""
    return Right(Area.COMPANY, Action.WRITE) if right == _ADDING else right


def person(user: User, session: Session) -> Person:
    """Return who calls under a session."""
    return Person(
        user_id=user.id,
        email=user.email,
        name=user.name,
        roles=user.roles,
        companies=user.companies,
        session_id=session.id,
        factor_at=session.factor_at,
        has_factor=user.has_factor,
    )
