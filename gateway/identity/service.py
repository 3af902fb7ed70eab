"""Users, as staff see and manage them; orders that take two people wait for the second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gateway.core.access import Staff, requires
from gateway.core.approvals import Approval
from gateway.core.audit_context import RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import RIGHTS, Area, Role
from gateway.core.schemas import ReasonBody
from gateway.core.sessions import SignedInUser
from gateway.core.strict import uuid_text
from gateway.core.user import User
from gateway.core.user_errors import NOT_FOUND, SESSION_REQUIRED
from gateway.core.versions import ANY_VERSION, Expected
from gateway.core.windows import Listed, Paging
from gateway.identity.access_orders import PeopleOrders
from gateway.identity.model import (
    CompaniesBody,
    EndedDocument,
    InvitationBody,
    NameBody,
    RoleDocument,
    RolesBody,
    SignIn,
    UserRecord,
    UserStanding,
    fields_of,
)
from gateway.identity.ports import IdentityContext
from gateway.identity.services import IdentityServices
from gateway.identity.throttling import Lockouts
from gateway.identity.user_store import StoredUsers
from gateway.identity.users import NewUser, UserRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """
    The users whose companies the caller sees, all of them.

    Another user is ``NOT_FOUND``. A change is a ``RuleViolation`` where the register of users
    refuses it, and ``SVC.GTW.011`` where the user has none of the versions expected.

    Attributes:
        orders: What takes two people goes through it.
    """

    context: IdentityContext
    services: IdentityServices
    users: StoredUsers
    orders: PeopleOrders

    @requires(Area.USER, Action.READ)
    async def page(self, who: Staff, paging: Paging) -> Listed[UserStanding]:
        """List the users you may see."""
        found = await self.users.page(paging, who.scope)
        items = await self._standings(found.items)
        return Listed(items=items, paging=paging, total=found.total)

    @requires(Area.USER, Action.READ)
    async def get(self, who: Staff, user_id: str) -> UserStanding:
        """Read one user."""
        (found,) = await self._standings([await self._user(who, user_id)])
        return found

    @requires(Area.USER, Action.READ)
    async def roles(self, _who: Staff) -> list[RoleDocument]:
        """List what each role may do."""
        return [RoleDocument(each.value, sorted(map(str, RIGHTS[each]))) for each in Role]

    @requires(Area.USER, Action.MANAGE)
    async def invite(self, who: Staff, wanted: InvitationBody) -> UserRecord | Approval:
        """
        Create a user and send a link valid for three days.

        Roles that may write need approval.
        """
        order = NewUser(
            email=wanted.email,
            name=wanted.name,
            roles=frozenset(wanted.roles),
            companies=_companies(who, wanted.companies),
        )
        try:
            return _shown(await self.orders.invite(_person(who), order))
        except RuleViolation as problem:
            raise await self._within(who, problem, order.email) from problem.__cause__

    @requires(Area.USER, Action.MANAGE)
    async def invite_again(self, who: Staff, user_id: str) -> UserRecord:
        """Send a new link to a user who has not accepted yet; the old one is void."""
        found = await self._user(who, user_id)
        invited = await self.services.invitations.invite_again(who.acting.actor, found.id)
        return UserRecord(**fields_of(invited))

    @requires(Area.USER, Action.MANAGE)
    async def rename(
        self, who: Staff, user_id: str, wanted: NameBody, expected: Expected = ANY_VERSION
    ) -> UserRecord:
        """Rename a user."""
        found, users = await self._user(who, user_id), self._register(who, expected)
        return UserRecord(**fields_of(await users.rename(who.acting.actor, found.id, wanted.name)))

    @requires(Area.USER, Action.MANAGE)
    async def unlock(self, who: Staff, user_id: str) -> UserStanding:
        """Unlock a user who gave too many wrong passwords or codes."""
        found = await self._user(who, user_id)
        await Lockouts(self.context).lift(who.acting.actor, found)
        return await self.get(who, user_id)

    @requires(Area.USER, Action.MANAGE)
    async def set_roles(
        self, who: Staff, user_id: str, wanted: RolesBody, expected: Expected = ANY_VERSION
    ) -> UserRecord | Approval:
        """
        Replace a user's roles.

        Removed roles end at once; a new role that may write needs approval.
        """
        found, roles = await self._user(who, user_id), frozenset(wanted.roles)
        return _shown(await self._orders(who, expected).set_roles(_person(who), found, roles))

    @requires(Area.USER, Action.MANAGE)
    async def set_companies(
        self, who: Staff, user_id: str, wanted: CompaniesBody, expected: Expected = ANY_VERSION
    ) -> UserRecord | Approval:
        """
        Limit a user to these companies; an empty list removes the limit.

        Showing more to a user who may write waits.
        """
        shown = _companies(who, wanted.companies)
        found, orders = await self._user(who, user_id), self._orders(who, expected)
        return _shown(await orders.set_companies(_person(who), found, shown))

    @requires(Area.USER, Action.MANAGE)
    async def disable(
        self, who: Staff, user_id: str, why: ReasonBody, expected: Expected = ANY_VERSION
    ) -> UserRecord:
        """Disable a user."""
        found, users = await self._user(who, user_id), self._register(who, expected)
        return UserRecord(**fields_of(await users.disable(who.acting.actor, found.id, why.reason)))

    @requires(Area.USER, Action.MANAGE)
    async def enable(
        self, who: Staff, user_id: str, expected: Expected = ANY_VERSION
    ) -> UserRecord | Approval:
        """Enable a user again; waits where the user may write."""
        found = await self._user(who, user_id)
        return _shown(await self._orders(who, expected).enable(_person(who), found))

    @requires(Area.USER, Action.MANAGE)
    async def reset_mfa(
        self, who: Staff, user_id: str, expected: Expected = ANY_VERSION
    ) -> UserRecord | Approval:
        """Take a second factor and recovery codes away; waits where the user may write."""
        found = await self._user(who, user_id)
        return _shown(await self._orders(who, expected).reset_mfa(_person(who), found))

    @requires(Area.SESSION, Action.READ)
    async def sessions(self, who: Staff, user_id: str) -> list[SignIn]:
        """List a user's open sessions."""
        found = await self._user(who, user_id)
        live = await self.context.stores.sessions.of(found.id, self.context.now())
        return [SignIn.of(each) for each in live]

    @requires(Area.SESSION, Action.WRITE)
    async def end_sessions(self, who: Staff, user_id: str) -> EndedDocument:
        """End all of a user's sessions, with all of their tokens."""
        found = await self._user(who, user_id)
        return EndedDocument(await self.services.users.end_sessions(who.acting.actor, found.id))

    @requires(Area.SESSION, Action.WRITE)
    async def end_session(self, who: Staff, user_id: str, session_id: str) -> None:
        """End one of a user's sessions."""
        found = await self._user(who, user_id)
        ended = await self.services.sessions.end_of(who.acting.actor, found.id, session_id)
        if not ended:
            raise ServiceError(NOT_FOUND, "session")

    async def _user(self, who: Staff, user_id: str) -> User:
        found = await self.users.visible(user_id.lower(), who.scope)
        if found is None:
            raise ServiceError(NOT_FOUND, "user")
        return found

    def _register(self, who: Staff, expected: Expected) -> UserRecords:
        """Return the register of users for the caller's scope and expected versions."""
        return replace(self.services.users, expected=expected, scope=who.scope)

    def _orders(self, who: Staff, expected: Expected) -> PeopleOrders:
        """Return what orders go through, likewise."""
        services = replace(self.services, users=self._register(who, expected))
        return replace(self.orders, services=services)

    async def _within(self, who: Staff, problem: RuleViolation, email: str) -> RuleViolation:
        """Say of a person who is not shown no more than that they cannot be invited."""
        if problem.reason != "taken":
            return problem
        if await self.users.visible(email.strip().lower(), who.scope) is not None:
            return problem
        message = "this address cannot be invited here; ask an administrator of every company"
        return RuleViolation(message, "not_here", field="email")

    async def _standings(self, users: Sequence[User]) -> Sequence[UserStanding]:
        """Look up when users signed in last, and whether they are locked out."""
        signed_in = await self.users.last_sign_ins([each.id for each in users])
        locked = await Lockouts(self.context).of(users)
        return [
            UserStanding(
                **fields_of(each),
                last_sign_in_at=signed_in.get(each.id),
                locked=each.id in locked,
                locked_until=locked[each.id].until if each.id in locked else None,
            )
            for each in users
        ]


def _companies(who: Staff, wanted: Iterable[str]) -> frozenset[str]:
    """
    Read the limit of another user; it may not reach beyond the caller's own.

    Raises:
        RuleViolation: a name that is no UUID, or a limit that is wider than the scope.
    """
    try:
        companies = frozenset(map(uuid_text, wanted))
    except ValueError as problem:
        message = "a company is named by its id"
        raise RuleViolation(message, "uuid_form", field="companies") from problem
    if not who.scope.covers(companies):
        message = "name companies that you see yourself"
        raise RuleViolation(message, "company_unknown", field="companies")
    return companies


def _person(who: Staff) -> SignedInUser:
    """Return who orders; commands change users by the register itself."""
    if who.person is None:
        raise ServiceError(SESSION_REQUIRED, "missing")
    return who.person


def _shown(made: User | Approval) -> UserRecord | Approval:
    return made if isinstance(made, Approval) else UserRecord(**fields_of(made))
