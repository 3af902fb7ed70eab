"""
People as orders: what could move money takes two.

Without a rule of ``FourEyes`` the same acts are done at once, as on the command line.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from gateway.core import user_errors
from gateway.core.approvals import Approval, ApprovalKind, NewOrder, Wait
from gateway.core.company_scope import scope_of
from gateway.core.errors import ServiceError
from gateway.core.rights import Role, may_grant, may_write
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.core.versions import Expected, version_of_user
from gateway.identity.access_changes import (
    BackOfficeOrder,
    CompaniesGrant,
    Enabling,
    FactorReset,
    Invitation,
    RoleGrant,
    written,
)
from gateway.identity.services import IdentityServices
from gateway.identity.users import NewUser, UserRecords

_LACKS = "You cannot give a right that you do not have."


@dataclass(frozen=True, slots=True, kw_only=True)
class FourEyes:
    """
    What takes two people.

    Attributes:
        credentials: Secrets of credentials that pay, higher limits, and another bank of an
            account, or other credentials there.
        people: Roles that write; of people who have such roles, more companies, enabling
            them again, and second factors.
    """

    credentials: bool = True
    people: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOrders:
    """People, for people: done at once where nobody could write by it who cannot yet."""

    services: IdentityServices
    wait: Wait
    rules: FourEyes

    async def invite(self, person: SignedInUser, order: NewUser) -> User | Approval:
        """
        Make a person, or let the order wait when they could write.

        Raises:
            ServiceError: FORBIDDEN when a role has a right that the orderer lacks.
            RuleViolation: as ``Invitations.invite`` does.
        """
        _refuse_lacking(person.roles, order.roles)
        if not (self.rules.people and may_write(order.roles)):
            return await self.services.invitations.invite(person.actor, order)
        made = await self.services.users.checked(order)
        wanted = Invitation(
            email=made.email,
            name=made.name,
            roles=sorted(made.roles),
            companies=sorted(made.companies),
        )
        return await self._wait(person, wanted, made.email, made.companies)

    async def set_roles(
        self, person: SignedInUser, found: User, roles: frozenset[Role]
    ) -> User | Approval:
        """
        Take away at once what is not among ``roles``; giving one that writes waits.

        Raises:
            ServiceError: FORBIDDEN when a new role has a right that the orderer lacks.
            RuleViolation: as ``UserRecords.set_roles`` does.
        """
        given = roles - found.roles
        _refuse_lacking(person.roles, given)
        if not (self.rules.people and may_write(given)):
            return await self.services.users.set_roles(person.actor, found.id, roles)
        self._refuse(person, found)
        if not found.roles <= roles:
            await self.services.users.set_roles(person.actor, found.id, roles & found.roles)
        order = RoleGrant(
            user_id=found.id,
            email=found.email,
            roles=sorted(given),
            companies=sorted(found.companies),
        )
        return await self._wait(person, order, found.id, found.companies)

    async def set_companies(
        self, person: SignedInUser, found: User, companies: frozenset[str]
    ) -> User | Approval:
        """
        Take companies away at once; showing more to somebody who may write waits.

        Raises:
            ServiceError: ``SVC.GTW.011`` when somebody else has changed them since ``found``.
            RuleViolation: as ``UserRecords.set_companies`` does.
        """
        is_more = not scope_of(found.companies).covers(companies)
        if not (self.rules.people and may_write(found.roles) and is_more):
            return await self._as_found(found).set_companies(person.actor, found.id, companies)
        self._refuse(person, found)
        wanted = await self.services.users.known_companies(companies)
        # With none in common nothing is taken yet: no company at all would be every company.
        kept = found.companies & wanted or found.companies
        if kept != found.companies:
            await self._as_found(found).set_companies(person.actor, found.id, kept)
        order = CompaniesGrant(
            user_id=found.id,
            email=found.email,
            roles=sorted(found.roles),
            companies=sorted(wanted),
            companies_before=sorted(kept),
        )
        return await self._wait(person, order, found.id)

    async def enable(self, person: SignedInUser, found: User) -> User | Approval:
        """
        Let somebody in again; it waits when they may write.

        Raises:
            ServiceError: ``SVC.GTW.011`` when somebody else has changed them since ``found``.
        """
        if found.active or not (self.rules.people and may_write(found.roles)):
            return await self._as_found(found).enable(person.actor, found.id)
        self._refuse(person, found)
        order = Enabling(
            user_id=found.id,
            email=found.email,
            roles=sorted(found.roles),
            companies=sorted(found.companies),
            changed_at=found.updated_at,
        )
        return await self._wait(person, order, found.id, found.companies)

    async def reset_mfa(self, person: SignedInUser, found: User) -> User | Approval:
        """Take a second factor away; it waits when its person may write."""
        if not (self.rules.people and may_write(found.roles)):
            return await self.services.users.reset_mfa(person.actor, found.id)
        self._refuse(person, found)
        order = FactorReset(user_id=found.id, email=found.email)
        return await self._wait(person, order, found.id, found.companies)

    async def _wait(
        self,
        person: SignedInUser,
        order: BackOfficeOrder,
        subject: str,
        companies: AbstractSet[str] = frozenset(),
    ) -> Approval:
        """Let an order wait; of several companies, or all, people without limits decide."""
        wanted = NewOrder(
            kind=ApprovalKind(str(order.__struct_config__.tag)),
            text=written(order),
            company_id=next(iter(companies)) if len(companies) == 1 else None,
            subject=subject,
        )
        return await self.wait(person, wanted)

    def _refuse(self, person: SignedInUser, found: User) -> None:
        """Refuse orders about oneself, and about another version than was seen."""
        self.services.users.refuse_self(person.actor, found)
        self.services.users.expected.check(version_of_user(found))

    def _as_found(self, found: User) -> UserRecords:
        """Return the register for a change that needs nobody else while they are as found."""
        users, version = self.services.users, version_of_user(found)
        users.expected.check(version)
        return replace(users, expected=Expected(frozenset({version})))


def _refuse_lacking(granter: frozenset[Role], roles: frozenset[Role]) -> None:
    """Refuse to give what one lacks; rights over money take the second person instead."""
    if not may_grant(granter, roles):
        raise ServiceError(user_errors.FORBIDDEN, "lacking", detail=_LACKS)
