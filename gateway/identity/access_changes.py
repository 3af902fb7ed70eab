"""Orders about users, stored as one JSON text. They hold no secret."""

from __future__ import annotations

from datetime import datetime

import msgspec

from gateway.core.company_scope import scope_of
from gateway.core.rights import Role
from gateway.core.user import User


class Invitation(msgspec.Struct, frozen=True, kw_only=True, tag="invitation"):
    """A user to be created."""

    email: str
    name: str
    roles: list[Role]
    companies: list[str]


class RoleGrant(msgspec.Struct, frozen=True, kw_only=True, tag="roles"):
    """
    Roles added to those a user has.

    Attributes:
        companies: Those the user sees when it is ordered, empty for all; None where the
            release that took the order did not note them.
    """

    user_id: str
    email: str
    roles: list[Role]
    companies: list[str] | None = None


class CompaniesGrant(msgspec.Struct, frozen=True, kw_only=True, tag="companies"):
    """
    More companies for a user whose roles may write; an empty list is every company.

    Attributes:
        roles: Those the user has when it is ordered.
        companies: All that the user is to see.
        companies_before: Those the user sees until then.
    """

    user_id: str
    email: str
    roles: list[Role]
    companies: list[str]
    companies_before: list[str]


class Enabling(msgspec.Struct, frozen=True, kw_only=True, tag="enabling"):
    """
    A disabled user whose roles may write, to be enabled again.

    Attributes:
        roles, companies: Those the user has when it is ordered; no company is every company.
        changed_at: Of the user's latest change before it was ordered.
    """

    user_id: str
    email: str
    roles: list[Role]
    companies: list[str]
    changed_at: datetime


class FactorReset(msgspec.Struct, frozen=True, kw_only=True, tag="factor_reset"):
    """A second factor to be taken away."""

    user_id: str
    email: str


UserChange = RoleGrant | CompaniesGrant | Enabling | FactorReset
PersonChange = Invitation | UserChange
BackOfficeOrder = PersonChange

_READER = msgspec.json.Decoder(BackOfficeOrder)


def still_fits(order: UserChange, user: User) -> bool:
    """
    Say whether an order gives no more by now than it said when it was ordered.

    It does not when its user has gained roles or companies since, or when a change of the
    companies or the state would be undone. It still does after it was carried out.
    """
    match order:
        case FactorReset():
            return True
        case RoleGrant(companies=shown):
            return shown is None or scope_of(frozenset(shown)).covers(user.companies)
        case CompaniesGrant(companies=wanted, companies_before=before):
            known = user.companies in {frozenset(wanted), frozenset(before)}
            return known and user.roles <= frozenset(order.roles)
        case Enabling(changed_at=changed_at):
            return user.active or user.updated_at == changed_at


def written(order: BackOfficeOrder) -> str:
    """Write an order."""
    return msgspec.json.encode(order).decode()


def read(text: str) -> BackOfficeOrder:
    """Read back what ``written`` wrote."""
    order: BackOfficeOrder = _READER.decode(text)
    return order
