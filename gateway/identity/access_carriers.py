"""Orders that move no money, looked at again and carried out when a second person agrees."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial

from gateway.core.approvals import Approval, OrderDocument, Outcome
from gateway.core.company_scope import scope_of
from gateway.core.rights import Role, may_grant
from gateway.identity.access_changes import (
    CompaniesGrant,
    Enabling,
    FactorReset,
    Invitation,
    PersonChange,
    RoleGrant,
    UserChange,
    read,
    still_fits,
)
from gateway.identity.services import IdentityServices
from gateway.identity.user_store import StoredUsers
from gateway.identity.users import NewUser


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeCarriers:
    """Carries out what was agreed to, in the name of whoever ordered it."""

    services: IdentityServices
    users: StoredUsers

    async def check_again(self, approval: Approval, text: str) -> str:
        """Refuse what could not be done by now; say why an order is void."""
        order = read(text)
        match order:
            case Invitation():
                await self.services.users.checked(_user_order(order))
                return await self._grants(approval, order.roles, frozenset(order.companies))
            case RoleGrant() | CompaniesGrant() | Enabling() | FactorReset():
                return await self._check_user(approval, order)

    async def carry_out(self, approval: Approval, text: str) -> Outcome:
        """Do it, in the name of whoever ordered it."""
        order, by = read(text), approval.orderer
        match order:
            case Invitation():
                await self.services.invitations.invite(by, _user_order(order))
            case RoleGrant() | CompaniesGrant() | Enabling() | FactorReset():
                await self._change_user(by, order)
        return Outcome.DONE

    def order_document(self, text: str) -> OrderDocument:
        """Show what was ordered."""
        return _about_person(read(text))

    async def _check_user(self, approval: Approval, order: UserChange) -> str:
        """Look at the person and the orderer as they are by now; say why an order is void."""
        found = await self.services.users.find(order.user_id)
        if not still_fits(order, found):
            return "The person has been changed since."
        roles = order.roles if isinstance(order, RoleGrant) else ()
        if isinstance(order, CompaniesGrant):
            wanted = await self.services.users.known_companies(order.companies)
            return await self._grants(approval, roles, found.companies, wanted)
        return await self._grants(approval, roles, found.companies)

    async def _change_user(self, by: str, order: UserChange) -> None:
        """Change a person, unless they are not any more as the order said."""
        users = replace(self.services.users, fits=partial(still_fits, order))
        match order:
            case RoleGrant(user_id=user_id, roles=roles):
                await users.add_roles(by, user_id, roles)
            case CompaniesGrant(user_id=user_id, companies=companies):
                await users.set_companies(by, user_id, companies)
            case Enabling(user_id=user_id):
                await users.enable(by, user_id)
            case FactorReset(user_id=user_id):
                await users.reset_mfa(by, user_id)

    async def _grants(
        self, approval: Approval, roles: Iterable[Role], *limits: AbstractSet[str]
    ) -> str:
        """Say why whoever ordered it may not give this by now."""
        orderer = await self.users.find(approval.ordered_by)
        if orderer is None or not may_grant(orderer.roles, roles):
            return "The person who ordered it is no longer allowed to."
        if not all(scope_of(orderer.companies).covers(each) for each in limits):
            return "The person who ordered it no longer has access to the company."
        return ""


def _user_order(order: Invitation) -> NewUser:
    return NewUser(
        email=order.email,
        name=order.name,
        roles=frozenset(order.roles),
        companies=frozenset(order.companies),
    )


def _about_person(found: PersonChange) -> OrderDocument:
    if isinstance(found, Invitation):
        shown: OrderDocument = {"email": found.email, "name": found.name}
    else:
        shown = {"user_id": found.user_id, "email": found.email}
    if not isinstance(found, FactorReset):
        shown["roles"] = [each.value for each in found.roles]
        if found.companies is not None:
            shown["companies"] = found.companies
    if isinstance(found, CompaniesGrant):
        shown["companies_before"] = found.companies_before
    return shown
