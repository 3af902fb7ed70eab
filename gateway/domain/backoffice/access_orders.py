"""Orders about credentials and users, stored as one JSON text; they never hold a secret."""

from __future__ import annotations

from datetime import datetime

import msgspec

from gateway.domain.accounts.credentials import CredentialLimits
from gateway.domain.backoffice.approvals import ApprovalKind
from gateway.domain.identity.rights import Role


class CredentialIssue(msgspec.Struct, frozen=True, kw_only=True, tag="credential_issue"):
    """A credential to be issued; permissions as they are written."""

    name: str
    company_id: str
    account_id: str | None = None
    permissions: list[str]
    expires_at: datetime | None = None
    limits: CredentialLimits


class CredentialRotation(msgspec.Struct, frozen=True, kw_only=True, tag="credential_rotation"):
    """A second secret; the previous one works for this many more seconds."""

    client_id: str
    overlap_s: int


class LimitsChange(msgspec.Struct, frozen=True, kw_only=True, tag="credential_limits"):
    """Other limits of a credential."""

    client_id: str
    limits: CredentialLimits


class Invitation(msgspec.Struct, frozen=True, kw_only=True, tag="invitation"):
    """A user to be created."""

    email: str
    name: str
    roles: list[Role]
    companies: list[str]


class RoleGrant(msgspec.Struct, frozen=True, kw_only=True, tag="roles"):
    """Roles added to those a user has."""

    user_id: str
    email: str
    roles: list[Role]


class FactorReset(msgspec.Struct, frozen=True, kw_only=True, tag="factor_reset"):
    """A second factor to be taken away."""

    user_id: str
    email: str


CredentialChange = CredentialIssue | CredentialRotation | LimitsChange
PersonChange = Invitation | RoleGrant | FactorReset
BackOfficeOrder = CredentialChange | PersonChange

_READER = msgspec.json.Decoder(BackOfficeOrder)


def kind_of(order: BackOfficeOrder) -> ApprovalKind:
    """Return what kind of order it is."""
    return ApprovalKind(str(order.__struct_config__.tag))


def written(order: BackOfficeOrder) -> str:
    """Write an order."""
    return msgspec.json.encode(order).decode()


def read(text: str) -> BackOfficeOrder:
    """Read back what ``written`` wrote."""
    order: BackOfficeOrder = _READER.decode(text)
    return order
