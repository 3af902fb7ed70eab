"""Documents of people, of their sign-ins and of the roles."""

from __future__ import annotations

from typing import Literal, TypedDict

from gateway.http.resources.documents import Instant, Meter, Total

RoleName = Literal["viewer", "operator", "approver", "security", "admin"]


class UserRecordDocument(TypedDict):
    """A person; never a password or a secret."""

    id: str
    email: str
    name: str
    roles: list[RoleName]
    companies: list[str]
    state: Literal["active", "disabled", "invited"]
    has_factor: bool
    created_at: Instant
    updated_at: Instant


class UserStandingDocument(UserRecordDocument):
    """
    A person, their last sign-in that is on record, and whether they are locked out.

    ``locked_until`` is empty where only a reset of the password or an
    administrator lets them in again.
    """

    last_sign_in_at: Instant
    locked: bool
    locked_until: Instant


class UserRecordList(TypedDict):
    """The people that are shown to who asks, oldest first."""

    data: list[UserStandingDocument]
    meta: Meter


class SignInDocument(TypedDict):
    """A sign-in that holds."""

    id: str
    panel: bool
    created_at: Instant
    seen_at: Instant
    ends_at: Instant
    address: str
    user_agent: str


class SignInList(TypedDict):
    """The sign-ins of a person, oldest first."""

    data: list[SignInDocument]
    meta: Total


class EndedDocument(TypedDict):
    """How many sign-ins ended."""

    ended: int


class RoleDocument(TypedDict):
    """A role, and everything it may do."""

    name: RoleName
    rights: list[str]


class RoleList(TypedDict):
    """The table of roles."""

    data: list[RoleDocument]
    meta: Total
