"""What administrators do with users."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, TypeVar

import msgspec

from gateway.approvals.model import Approval
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.rights import Role
from gateway.domain.identity.sessions import Session
from gateway.domain.identity.users import User
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Paging
from gateway.domain.requests.schemas import Name, Text
from gateway.http.backoffice.callers import BackOfficeCaller, explained
from gateway.http.backoffice.cells import ReasonBody
from gateway.http.identity.represent import public_id
from gateway.operations.backoffice.access_orders import PeopleOrders
from gateway.operations.backoffice.scoped_records import AdminServices, RecordsInScope
from gateway.operations.bank.pages import Listed
from gateway.operations.identity.services import IdentityServices
from gateway.operations.identity.sessions import UserSessions
from gateway.operations.identity.throttling import Lockout, Lockouts
from gateway.operations.identity.users import NewUser, UserRecords
from gateway.operations.kernel.audit_context import RuleViolation

Result = TypeVar("Result")


class RolesBody(msgspec.Struct):
    """All roles that a user is to have."""

    roles: Annotated[list[Role], msgspec.Meta(min_length=1, max_length=5)]


class CompaniesBody(msgspec.Struct):
    """The only companies that a user sees; an empty list means every company."""

    companies: Annotated[list[Text], msgspec.Meta(max_length=1000)]


class InvitationBody(RolesBody):
    """A new user; they choose a password through a link in a mail."""

    email: Annotated[str, msgspec.Meta(min_length=3, max_length=254, examples=["ana@example.com"])]
    name: Name
    companies: Annotated[list[Text], msgspec.Meta(max_length=1000)] = []


class NameBody(msgspec.Struct):
    """A user's name."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class UserActs:
    """The register of people, over HTTP."""

    services: IdentityServices
    others: UserSessions
    admin: AdminServices
    orders: PeopleOrders

    async def list(self, who: BackOfficeCaller, paging: Paging) -> Listed[Standing]:
        """List them."""
        found = await self._visible(who).users(paging)
        return Listed(items=await self._standings(found.items), paging=paging, total=found.total)

    async def stands(self, who: BackOfficeCaller, user_id: str) -> Standing:
        """Read one, and how they stand."""
        (found,) = await self._standings([await self.read(who, user_id)])
        return found

    async def rename(self, who: BackOfficeCaller, taken: tuple[str, NameBody]) -> User:
        """Give one another name."""
        user_id, wanted = taken
        return await self._do(
            who, user_id, lambda by, of: self._users(who).rename(by, of, wanted.name)
        )

    async def unlock(self, who: BackOfficeCaller, user_id: str) -> Standing:
        """Let one in again who was wrong too often."""
        found = await self.read(who, user_id)
        await Lockouts(self.others.context).lift(who.acting.actor, found)
        return await self.stands(who, user_id)

    async def read(self, who: BackOfficeCaller, user_id: str) -> User:
        """Read one."""
        return await self._visible(who).user(user_id)

    async def invite(self, who: BackOfficeCaller, wanted: InvitationBody) -> User | Approval:
        """Make one, and send them a link, or let the order wait."""
        order = NewUser(
            email=wanted.email,
            name=wanted.name,
            roles=frozenset(wanted.roles),
            companies=self._limit(who, wanted.companies),
        )
        with explained():
            try:
                return await self.orders.invite(who.person, order)
            except RuleViolation as problem:
                raise await self._within(who, problem, order.email) from problem.__cause__

    async def invite_again(self, who: BackOfficeCaller, user_id: str) -> User:
        """Send a new link."""
        return await self._do(who, user_id, self.services.invitations.invite_again)

    async def set_roles(
        self, who: BackOfficeCaller, taken: tuple[str, RolesBody]
    ) -> User | Approval:
        """Give one these roles and no others; giving one that writes waits."""
        user_id, wanted = taken
        found = await self.read(who, user_id)
        with explained():
            return await self._orders(who).set_roles(who.person, found, frozenset(wanted.roles))

    async def set_companies(
        self, who: BackOfficeCaller, taken: tuple[str, CompaniesBody]
    ) -> User | Approval:
        """Show one these companies alone; showing more to one who may write waits."""
        user_id, wanted = taken
        shown = self._limit(who, wanted.companies)
        found = await self.read(who, user_id)
        with explained():
            return await self._orders(who).set_companies(who.person, found, shown)

    async def disable(self, who: BackOfficeCaller, taken: tuple[str, ReasonBody]) -> User:
        """Keep one out."""
        user_id, why = taken
        return await self._do(
            who, user_id, lambda by, of: self._users(who).disable(by, of, why.reason)
        )

    async def enable(self, who: BackOfficeCaller, user_id: str) -> User | Approval:
        """Let one in again; it waits for who may write."""
        found = await self.read(who, user_id)
        with explained():
            return await self._orders(who).enable(who.person, found)

    async def reset_mfa(self, who: BackOfficeCaller, user_id: str) -> User | Approval:
        """Take one's second factor away; it waits for who may write."""
        found = await self.read(who, user_id)
        with explained():
            return await self._orders(who).reset_mfa(who.person, found)

    async def sessions(self, who: BackOfficeCaller, user_id: str) -> Sequence[Session]:
        """List one's sign-ins."""
        return await self.others.list((await self.read(who, user_id)).id)

    async def end_sessions(self, who: BackOfficeCaller, user_id: str) -> int:
        """End all of one's sign-ins."""
        return await self._do(who, user_id, self.services.users.end_sessions)

    async def end_session(self, who: BackOfficeCaller, taken: tuple[str, str]) -> None:
        """End one sign-in, named as lists name it."""
        user_id, wanted = taken
        for each in await self.sessions(who, user_id):
            if public_id(each.id) == wanted and await self.others.end(who.acting.actor, each):
                return
        raise ServiceError(NOT_FOUND, "session")

    def _orders(self, who: BackOfficeCaller) -> PeopleOrders:
        """Return what orders go through, likewise."""
        return replace(self.orders, services=replace(self.services, users=self._users(who)))

    def _users(self, who: BackOfficeCaller) -> UserRecords:
        """Return the register of users for the caller's scope and expected versions."""
        return replace(self.services.users, expected=who.expected, scope=who.scope)

    async def _within(
        self, who: BackOfficeCaller, problem: RuleViolation, email: str
    ) -> RuleViolation:
        """Say of a person who is not shown no more than that they cannot be invited."""
        if problem.reason != "taken":
            return problem
        known = self._visible(who).records
        if await known.user(email.strip().lower(), who.scope) is not None:
            return problem
        message = "this address cannot be invited here; ask an administrator of every company"
        return RuleViolation(message, "not_here", field="email")

    def _limit(self, who: BackOfficeCaller, wanted: Sequence[str]) -> frozenset[str]:
        """Read the companies that a user is to be limited to."""
        with explained():
            return self._visible(who).require_companies(wanted)

    def _visible(self, who: BackOfficeCaller) -> RecordsInScope:
        """Return what they may see."""
        return self.admin.by(who.acting, who.scope).visible

    async def _standings(self, people: Sequence[User]) -> Sequence[Standing]:
        """Look up how people stand."""
        signed_in = await self.admin.visible.records.last_sign_ins([each.id for each in people])
        return standings(people, signed_in, await Lockouts(self.others.context).of(people))

    async def _do(
        self, who: BackOfficeCaller, user_id: str, act: Callable[[str, str], Awaitable[Result]]
    ) -> Result:
        """Change a user in scope."""
        found = await self.read(who, user_id)
        with explained():
            return await act(who.acting.actor, found.id)


@dataclass(frozen=True, slots=True)
class Standing:
    """
    A person and how they stand.

    Attributes:
        signed_in_at: Their last sign-in that is still on record; None for none.
    """

    user: User
    signed_in_at: datetime | None
    lockout: Lockout | None


def standings(
    people: Sequence[User], signed_in: Mapping[str, datetime], locked: Mapping[str, Lockout]
) -> list[Standing]:
    """Put people together with what is known of them."""
    return [Standing(each, signed_in.get(each.id), locked.get(each.id)) for each in people]
