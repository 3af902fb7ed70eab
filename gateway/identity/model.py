"""Users and their sign-ins as staff see them, and what staff order about users."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from gateway.core.rights import Role
from gateway.core.schemas import Name, OptionalMoment, Text
from gateway.core.sessions import Session
from gateway.core.user import User

Changed = Annotated[datetime, *OptionalMoment.__metadata__]
RoleName = Literal["viewer", "operator", "approver", "security", "admin"]


class UserRecord(Struct, frozen=True, kw_only=True):
    """A user; never a password or a secret."""

    id: str
    email: str
    name: str
    roles: list[RoleName]
    companies: list[str]
    state: Literal["active", "disabled", "invited"]
    has_factor: bool
    created_at: Changed
    updated_at: Changed


class UserStanding(UserRecord, frozen=True, kw_only=True):
    """
    A user, their last sign-in that is on record, and whether they are locked out.

    ``locked_until`` is empty where only a reset of the password or an
    administrator lets them in again.
    """

    last_sign_in_at: OptionalMoment
    locked: bool
    locked_until: OptionalMoment


class SignIn(Struct, frozen=True, kw_only=True):
    """A sign-in that holds; its ``id`` is no credential."""

    id: str
    panel: bool
    created_at: OptionalMoment
    seen_at: OptionalMoment
    ends_at: OptionalMoment
    address: str
    user_agent: str

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
    """How many sign-ins ended."""

    ended: int


class RoleDocument(Struct, frozen=True):
    """A role, and everything it may do."""

    name: RoleName
    rights: list[str]


class RolesBody(Struct):
    """All roles that a user is to have."""

    roles: Annotated[list[Role], Meta(min_length=1, max_length=5)]


class CompaniesBody(Struct):
    """The only companies that a user sees; an empty list means every company."""

    companies: Annotated[list[Text], Meta(max_length=1000)]


class InvitationBody(RolesBody):
    """A new user; they choose a password through a link in a mail."""

    email: Annotated[str, Meta(min_length=3, max_length=254, examples=["ana@example.com"])]
    name: Name
    companies: Annotated[list[Text], Meta(max_length=1000)] = []


class NameBody(Struct):
    """A user's name."""

    name: Name


def fields_of(user: User) -> dict[str, Any]:
    """Return what a reader may see of a user, by the fields of ``UserRecord``."""
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "roles": [each.value for each in Role if each in user.roles],
        "companies": sorted(user.companies),
        "state": user.state,
        "has_factor": user.has_factor,
        "created_at": user.created_at,
        "updated_at": user.updated_at,
    }
