"""Users and their sign-ins as staff see them, and staff's orders about users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, Self

from msgspec import Meta, Struct

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.rights import Role
from gateway.core.schemas import Name, OptionalMoment, Text
from gateway.core.sessions import IssuerSession, Session
from gateway.core.structs import struct_of
from gateway.core.user import User

Changed = Annotated[datetime, *OptionalMoment.__metadata__]
RoleName = Literal["viewer", "operator", "approver", "security", "admin"]


class UserRecord(Struct, frozen=True, kw_only=True):
    """A user; never a password or a secret."""

    id: fields.Id
    email: fields.Email
    name: fields.PersonName
    roles: Annotated[list[RoleName], meaning("The user's roles.", ["viewer"])]
    companies: fields.Companies
    state: Annotated[Literal["active", "disabled", "invited"], meaning("The state that it is in.")]
    has_factor: Annotated[bool, meaning("Whether the user has a second factor.")]
    created_at: Changed
    updated_at: Changed

    @classmethod
    def of(cls, user: User, **others: object) -> Self:
        """Show the fields of a user that a reader may see; ``others`` are further fields."""
        roles = [each.value for each in Role if each in user.roles]
        return struct_of(cls, user, roles=roles, companies=sorted(user.companies), **others)


class UserStanding(UserRecord, frozen=True, kw_only=True):
    """
    A user, their last sign-in that is on record, and whether they are locked out.

    ``locked_until`` is empty where only a reset of the password or an
    administrator lets them in again.
    """

    last_sign_in_at: OptionalMoment
    locked: Annotated[
        bool, meaning("Whether sign-in is blocked for a while after wrong passwords.")
    ]
    locked_until: OptionalMoment


class SignIn(Struct, frozen=True, kw_only=True):
    """A sign-in that holds; its ``id`` is no credential."""

    id: fields.Id
    panel: fields.IsPanel
    created_at: OptionalMoment
    seen_at: OptionalMoment
    ends_at: OptionalMoment
    address: fields.IpAddress
    user_agent: fields.UserAgent

    @classmethod
    def of(cls, session: Session) -> SignIn:
        """Show a session, without its own id."""
        return cls(
            id=session.public_id,
            panel=session.panel,
            created_at=session.created_at,
            seen_at=session.seen_at,
            ends_at=session.ends_at,
            address=session.address,
            user_agent=session.user_agent,
        )


class EndedDocument(Struct, frozen=True):
    """The number of ended sign-ins."""

    ended: Annotated[int, meaning("Sessions that were ended.")]


class RoleDocument(Struct, frozen=True):
    """A role, and everything it may do."""

    name: Annotated[RoleName, meaning("Name, as people know it.")]
    rights: Annotated[list[str], meaning("What the role may do.", ["balance:read"])]


class RolesBody(Struct, frozen=True):
    """All roles that a user is to have."""

    roles: Annotated[
        list[Role], meaning("The user's roles.", ["viewer"], min_length=1, max_length=5)
    ]


class CompaniesBody(Struct):
    """The only companies that a user sees; an empty list means every company."""

    companies: Annotated[
        list[Text],
        meaning(
            "Ids of the companies that the user is limited to; none is every company.",
            [fields.ID],
            max_length=1000,
        ),
    ]


class InvitationBody(RolesBody, frozen=True):
    """A new user; they choose a password through a link in a mail."""

    email: Annotated[
        str,
        Meta(
            description="The user's e-mail address.",
            min_length=3,
            max_length=254,
            examples=["ana@example.com"],
        ),
    ]
    name: Annotated[Name, meaning("Name, as people know it.", "Maria Silva")]
    companies: Annotated[
        list[Text],
        meaning(
            "Ids of the companies that the user is limited to; none is every company.",
            [fields.ID],
            max_length=1000,
        ),
    ] = []


class NameBody(Struct):
    """A user's name."""

    name: Annotated[Name, meaning("Name, as people know it.", "Maria Silva")]


class Invitation(InvitationBody, frozen=True, kw_only=True, tag="invitation"):
    """An order to create a user."""


class _AboutUser(Struct, frozen=True, kw_only=True):
    """An order about a user who exists; stored as JSON, and without a secret."""

    user_id: str
    email: str


class RoleGrant(_AboutUser, frozen=True, kw_only=True, tag="roles"):
    """
    Roles added to those a user has.

    Attributes:
        companies: Those the user sees when it is ordered, empty for all.
        access_changed_at: When the user's roles or companies had last changed then.
    """

    roles: list[Role]
    companies: list[str]
    access_changed_at: datetime | None

    def fits(self, user: User) -> bool:
        """
        Return whether roles and companies are unchanged, or the user has the roles already.

        The same roles do not prove it: one that was given and taken meanwhile would come back.
        """
        is_unchanged = user.access_changed_at == self.access_changed_at
        return is_unchanged or frozenset(self.roles) <= user.roles


class CompaniesGrant(_AboutUser, frozen=True, kw_only=True, tag="companies"):
    """
    More companies for a user whose roles may write; an empty list is every company.

    Attributes:
        roles: Those the user has when it is ordered.
        companies: All that the user is to see.
        companies_before: Those the user sees until then.
        access_changed_at: When the user's roles or companies had last changed then.
    """

    roles: list[Role]
    companies: list[str]
    companies_before: list[str]
    access_changed_at: datetime | None

    def fits(self, user: User) -> bool:
        """Return whether roles and companies are unchanged, or the user sees these already."""
        is_unchanged = user.access_changed_at == self.access_changed_at
        return is_unchanged or user.companies == frozenset(self.companies)


class Enabling(_AboutUser, frozen=True, kw_only=True, tag="enabling"):
    """
    A disabled user whose roles may write, to be enabled again.

    Attributes:
        roles, companies: Those the user has when it is ordered; no company is every company.
        changed_at: The user's latest change before the order.
    """

    roles: list[Role]
    companies: list[str]
    changed_at: datetime

    def fits(self, user: User) -> bool:
        """Return whether the user is unchanged since it was ordered, or is enabled already."""
        return user.active or user.updated_at == self.changed_at


class FactorReset(_AboutUser, frozen=True, kw_only=True, tag="factor_reset"):
    """
    All second factors of a user, to be taken away: app, passkeys and recovery codes.

    Attributes:
        enrolled_at: When the newest factor was enrolled; None for a user without one.
    """

    enrolled_at: datetime | None

    def fits(self, user: User) -> bool:
        """Return whether no factor was enrolled since, or there is none."""
        return user.enrolled_at in {None, self.enrolled_at}


class FactorRemoval(FactorReset, frozen=True, kw_only=True, tag="factor_removal"):
    """A user's order to remove their own last second factor."""


UserChange = RoleGrant | CompaniesGrant | Enabling | FactorReset
"""``fits`` says whether it gives no more than when ordered, and stays true once carried out."""
UserOrder = Invitation | UserChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """
    A passkey (WebAuthn credential) of a user.

    Attributes:
        id: A lower-case UUID, for lists.
        credential_id: The authenticator's id of it, in base64url.
        credential: The attested credential data: its public key, and the authenticator's model.
        sign_count: The authenticator's counter at its last use; zero where it does not count.
    """

    id: str
    user_id: str
    name: str
    credential_id: str
    credential: bytes
    sign_count: int
    created_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """
    A second factor that is asked for: after a right password (contract 2.9), or by a passkey.

    A passkey's is stored when it is used.

    Attributes:
        digest: Of the ``mfa_token``, or of the passkey's challenge.
        tries: Codes tried so far; the fifth wrong one ends it.
        bound_to: The panel's pre-session it was made in; empty for callers of
            the interface.
        issuer_company, issuer_sid: See ``IssuerSession``; empty after a password.
    """

    digest: bytes
    user_id: str
    created_at: datetime
    ends_at: datetime
    tries: int = 0
    used_at: datetime | None = None
    bound_to: str = ""
    issuer_company: str = ""
    issuer_sid: str = ""

    @property
    def by(self) -> IssuerSession | None:
        """Return the provider's session that it follows; None after a password."""
        company = self.issuer_company
        return IssuerSession(company, self.issuer_sid) if company else None

    def is_open(self, now: datetime, tries: int) -> bool:
        """Return whether a code may still be tried for it, of which there are ``tries``."""
        return self.used_at is None and now < self.ends_at and self.tries < tries


class Purpose(StrEnum):
    """The purpose of a link in a mail."""

    RESET = "reset"
    INVITATION = "invitation"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailToken:
    """The token of a link in a mail, as its SHA-256; works once."""

    digest: bytes
    purpose: Purpose
    user_id: str
    created_at: datetime
    ends_at: datetime
    used_at: datetime | None = None


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
class Failures:
    """
    Wrong passwords or codes in a row, or in a window, under one key.

    Attributes:
        key: ``account_ip``, ``ip``, ``account`` or ``factor`` and the counted value.
        count: In the window that began at ``since``.
        blocked_until: Nothing is tried before then.
        blocks: How often it was blocked, for doubling.
    """

    key: str
    count: int
    since: datetime
    blocked_until: datetime | None = None
    blocks: int = 0


NextCounts = Callable[[Mapping[str, Failures | None]], Mapping[str, Failures | None]]
"""Given the counts by key, the counts that follow; None is no count, before and after."""
