"""The register of users; acts that could lead to moving money take two people."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from gateway.companies.model import KnownCompany
from gateway.core import strict
from gateway.core.access import Staff, requires
from gateway.core.approvals import (
    Approval,
    ApprovalKind,
    NewOrder,
    OrderDocument,
    Outcome,
    VoidReason,
    Wait,
    second_person,
)
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext, RuleViolation, identifier, name
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope, scope_of
from gateway.core.errors import ServiceError
from gateway.core.exports import Exports
from gateway.core.permissions import Action
from gateway.core.rights import RIGHTS, Area, Role, may_grant, may_write
from gateway.core.schemas import ReasonBody
from gateway.core.storage import AlreadyExists
from gateway.core.structs import struct_of
from gateway.core.user import Preferences, User
from gateway.core.user_errors import FORBIDDEN, NOT_FOUND
from gateway.core.versions import ANY_VERSION, Expected, version_of_user
from gateway.core.windows import Listed, Paging
from gateway.identity.context import IdentityContext
from gateway.identity.mail import Mailer
from gateway.identity.model import (
    CompaniesBody,
    CompaniesGrant,
    Enabling,
    EndedDocument,
    FactorReset,
    Invitation,
    InvitationBody,
    NameBody,
    RoleDocument,
    RoleGrant,
    RolesBody,
    SignIn,
    UserChange,
    UserOrder,
    UserRecord,
    UserStanding,
)
from gateway.identity.password_changes import NewPasswords
from gateway.identity.sessions import OwnSessions
from gateway.identity.store import EVERY
from gateway.identity.throttling import Lockouts
from gateway.identity.user_notices import UserNotices

_RESET: Final = "user.factor_reset"
"""Passkeys end in the same transaction."""
_LACKS = "You cannot give a right that you do not have."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guard:
    """
    Which user a change is for, as stored at that moment; any other is refused.

    Attributes:
        expected: The user has one of these versions.
        scope: The user sees no company outside of it.
        order: It gives the user no more than it said.
    """

    expected: Expected = ANY_VERSION
    scope: CompanyScope = EVERY_COMPANY
    order: UserChange | None = None

    def check(self, user: User) -> None:
        if not self.scope.covers(user.companies):
            raise _absent(user.id)
        self.expected.check(version_of_user(user))
        if self.order is not None and not self.order.fits(user):
            message = "the person was changed meanwhile; order it again"
            raise RuleViolation(message, "changed_meanwhile")


@dataclass(frozen=True, slots=True, kw_only=True)
class Users:
    """
    The register of users, and the executor of orders about them.

    A signed-in user sees and changes the users whose companies they see, all of them; any other is
    ``NOT_FOUND``. On the command line a user is named by id or by e-mail. No one acts on
    themselves: that, and every refusal of the register, is a ``RuleViolation``. A change is
    ``SVC.GTW.011`` where the user has none of the versions expected, and ends the user's sessions.

    Attributes:
        wait: Lets an order wait that gives a user roles that may write, or gives a user with
            such roles more companies, their access back, or a reset of the second factor.
            None where the same is done at once, as it is on the command line.
        exports: What people take away as lists; None on the command line, which has no limit.
    """

    context: IdentityContext
    known_company: KnownCompany
    wait: Wait | None = None
    exports: Exports | None = None

    @requires(Area.USER, Action.READ)
    async def page(self, who: Staff, paging: Paging) -> Listed[UserStanding]:
        """
        List the users you may see.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        found = await self.context.stores.users.page(paging, who.scope)
        items = await self._standings(found.items)
        if self.exports is not None:
            await self.exports.show(who, len(items))
        return Listed(items=items, paging=paging, total=found.total)

    @requires(Area.USER, Action.READ)
    async def names(self, who: Staff, paging: Paging) -> Sequence[User]:
        """Return users you may see, for their names beside acts that are shown; not counted."""
        return (await self.context.stores.users.page(paging, who.scope)).items

    @requires(Area.USER, Action.READ)
    async def get(self, who: Staff, user_id: str) -> UserStanding:
        """Read one user."""
        (found,) = await self._standings([await self._seen(who, user_id)])
        return found

    @requires(Area.USER, Action.READ)
    async def roles(self, _who: Staff) -> list[RoleDocument]:
        """List the rights of each role."""
        return [RoleDocument(each.value, sorted(map(str, RIGHTS[each]))) for each in Role]

    @requires(Area.USER, Action.MANAGE)
    async def create(self, who: Staff, wanted: InvitationBody, password: str = "") -> User:
        """
        Create a user; without a password they wait for an invitation.

        Raises:
            RuleViolation: the address is taken or malformed, a company is unknown,
                there is no role, or the password is too weak.
        """
        user = await self._read(wanted)
        if password:
            self._refuse_weak(password)
            user = replace(user, password=await self.context.crypto.hashing.make(password))
        details = {
            "email": user.email,
            "roles": _words(user.roles),
            "companies": _words(user.companies) or "all",
        }
        by = who.acting.actor
        event = self.context.audit_event(by, "user.created", f"user:{user.id}", **details)
        try:
            await self.context.stores.users.add(user, event)
        except AlreadyExists as problem:
            raise _taken(user.email) from problem
        return user

    @requires(Area.USER, Action.MANAGE)
    async def create_announced(
        self, who: Staff, wanted: InvitationBody, password: str
    ) -> UserRecord:
        """Create a user who may sign in at once, and mail security and admins; see ``create``."""
        user = await self.create(who, wanted, password)
        await UserNotices(Mailer(self.context)).tell_of_new(user, who.acting.actor)
        return UserRecord.of(user)

    @requires(Area.USER, Action.MANAGE)
    async def invite(self, who: Staff, wanted: InvitationBody) -> UserRecord | Approval:
        """
        Create a user and send a link valid for three days.

        Roles that may write need approval.
        """
        wanted = msgspec.structs.replace(wanted, companies=self._named(who, wanted.companies))
        try:
            _refuse_lacking(who, wanted.roles)
            waits = self._second_person(who, wanted.roles)
            if waits is None:
                user, mailer = await self.create(who, wanted), Mailer(self.context)
                await UserNotices(mailer).tell_of_new(user, who.acting.actor)
                await mailer.send_invitation(user)
                return UserRecord.of(user)
            made = await self._checked(wanted)
        except RuleViolation as problem:
            raise await self._within(who, problem, wanted.email) from problem.__cause__
        lists = {"roles": sorted(made.roles), "companies": sorted(made.companies)}
        order = struct_of(Invitation, made, **lists)
        return await waits(_new_order(order, made.email, made.companies))

    @requires(Area.USER, Action.MANAGE)
    async def invite_again(self, who: Staff, user_id: str) -> UserRecord:
        """Send a new link to a user who has not accepted yet; the old one is void."""
        user = await self._seen(who, user_id)
        if user.password or not user.active:
            message = f"{user.email} has accepted an invitation already, or is disabled"
            raise RuleViolation(message, "not_invited")
        by, subject = who.acting.actor, f"user:{user.id}"
        await self.context.audit.append(self.context.audit_event(by, "user.invited_again", subject))
        await Mailer(self.context).send_invitation(user)
        return UserRecord.of(user)

    @requires(Area.USER, Action.MANAGE)
    async def rename(
        self, who: Staff, user_id: str, wanted: NameBody, expected: Expected = ANY_VERSION
    ) -> UserRecord:
        """Rename a user."""
        found, called = await self._seen(who, user_id), name(wanted.name)
        guard = _Guard(expected=expected, scope=who.scope)
        return await self._change(
            who, found, guard, lambda user: replace(user, name=called), "user.renamed", name=called
        )

    @requires(Area.USER, Action.MANAGE)
    async def unlock(self, who: Staff, user_id: str) -> UserStanding:
        """Unlock a user who gave too many wrong passwords or codes."""
        found = await self._seen(who, user_id)
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
        found, roles = await self._seen(who, user_id), frozenset(wanted.roles)
        given, guard = roles - found.roles, _Guard(expected=expected, scope=who.scope)
        _refuse_lacking(who, given)
        waits = self._second_person(who, given)
        if waits is None:
            return await self._set_roles(who, found, guard, roles)
        _refuse(who, found, expected)
        if not found.roles <= roles:
            await self._set_roles(who, found, guard, roles & found.roles)
            found = await self._seen(who, user_id)
        order = RoleGrant(
            user_id=found.id,
            email=found.email,
            roles=sorted(given),
            companies=sorted(found.companies),
            access_changed_at=found.access_changed_at,
        )
        return await waits(_new_order(order, found.id, found.companies))

    @requires(Area.USER, Action.MANAGE)
    async def set_companies(
        self, who: Staff, user_id: str, wanted: CompaniesBody, expected: Expected = ANY_VERSION
    ) -> UserRecord | Approval:
        """
        Limit a user to these companies; an empty list removes the limit.

        Showing more to a user who may write waits.
        """
        named = frozenset(self._named(who, wanted.companies))
        found = await self._seen(who, user_id)
        _refuse(who, found, expected)
        companies, guard = await self._known(named), _as_found(who, found)
        # With none in common nothing is taken yet: no company at all would be every company.
        kept = found.companies & companies or found.companies
        order = CompaniesGrant(
            user_id=found.id,
            email=found.email,
            roles=sorted(found.roles),
            companies=sorted(companies),
            companies_before=sorted(kept),
            access_changed_at=found.access_changed_at,
        )
        waits = self._second_person(who, found.roles)
        if waits is None or scope_of(found.companies).covers(companies):
            return await self._do(who, order, guard)
        if kept != found.companies:
            await self._do(who, msgspec.structs.replace(order, companies=sorted(kept)), guard)
            changed_at = (await self._seen(who, user_id)).access_changed_at
            order = msgspec.structs.replace(order, access_changed_at=changed_at)
        return await waits(_new_order(order, found.id))

    @requires(Area.USER, Action.MANAGE)
    async def disable(
        self, who: Staff, user_id: str, why: ReasonBody, expected: Expected = ANY_VERSION
    ) -> UserRecord:
        """Disable a user."""
        found, details = await self._seen(who, user_id), {}
        if why.reason:
            details["reason"] = name(why.reason)
        guard = _Guard(expected=expected, scope=who.scope)
        return await self._change(
            who, found, guard, lambda user: replace(user, active=False), "user.disabled", **details
        )

    @requires(Area.USER, Action.MANAGE)
    async def enable(
        self, who: Staff, user_id: str, expected: Expected = ANY_VERSION
    ) -> UserRecord | Approval:
        """Enable a user again; waits where the user may write."""
        found = await self._seen(who, user_id)
        _refuse(who, found, expected)
        order = Enabling(
            user_id=found.id,
            email=found.email,
            roles=sorted(found.roles),
            companies=sorted(found.companies),
            changed_at=found.updated_at,
        )
        waits = self._second_person(who, found.roles)
        if waits is None or found.active:
            return await self._do(who, order, _as_found(who, found))
        return await waits(_new_order(order, found.id, found.companies))

    @requires(Area.USER, Action.MANAGE)
    async def reset_mfa(
        self, who: Staff, user_id: str, expected: Expected = ANY_VERSION
    ) -> UserRecord | Approval:
        """
        Take app, passkeys and recovery codes of a user away.

        Waits where the user may write.
        """
        found = await self._seen(who, user_id)
        _refuse(who, found, expected)
        order = FactorReset(user_id=found.id, email=found.email, enrolled_at=found.enrolled_at)
        waits = self._second_person(who, found.roles)
        if waits is None:
            return await self._do(who, order, _Guard(expected=expected, scope=who.scope))
        return await waits(_new_order(order, found.id, found.companies))

    @requires(Area.SESSION, Action.READ)
    async def sessions(self, who: Staff, user_id: str) -> list[SignIn]:
        """List a user's open sessions."""
        found = await self._seen(who, user_id)
        live = await self.context.stores.sessions.of(found.id, self.context.now())
        return [SignIn.of(each) for each in live]

    @requires(Area.SESSION, Action.WRITE)
    async def end_sessions(self, who: Staff, user_id: str) -> EndedDocument:
        """End all of a user's sessions, with all of their tokens."""
        found = await self._seen(who, user_id)
        return EndedDocument(await self._end_sessions(who, found.id, "by_administrator"))

    @requires(Area.SESSION, Action.WRITE)
    async def end_session(self, who: Staff, user_id: str, session_id: str) -> None:
        """End one of a user's sessions."""
        found = await self._seen(who, user_id)
        sessions = OwnSessions(self.context)
        if not await sessions.end_of(who.acting.actor, found.id, session_id):
            raise ServiceError(NOT_FOUND, "session")

    async def find(self, user_id: str) -> User:
        """Return a user by id or by e-mail; raises ``RuleViolation`` when there is none."""
        users = self.context.stores.users
        if "@" in user_id:
            user = await users.find_by_email(user_id.strip().lower())
        else:
            user = await users.find(identifier(user_id, "user"))
        if user is None:
            raise _absent(user_id)
        return user

    async def prefer(self, user_id: str, chosen: Preferences) -> None:
        """Keep how the panel is shown to a user: of no weight, and not on record."""
        await self.context.stores.users.prefer(user_id, chosen)

    async def check_again(self, approval: Approval, text: str) -> VoidReason:
        """Refuse an order that could not be carried out by now; see ``Executor``."""
        order = _read(text)
        roles = order.roles if isinstance(order, Invitation | RoleGrant) else ()
        if isinstance(order, Invitation):
            await self._checked(order)
            limits = [frozenset(order.companies)]
        else:
            found = await self.find(order.user_id)
            if not order.fits(found):
                return VoidReason.PERSON_CHANGED
            limits = [found.companies]
        if isinstance(order, CompaniesGrant):
            limits.append(await self._known(order.companies))
        orderer = await self.context.stores.users.find(approval.ordered_by)
        if orderer is None or not may_grant(orderer.roles, roles):
            return VoidReason.RIGHT_LOST
        if not all(scope_of(orderer.companies).covers(each) for each in limits):
            return VoidReason.COMPANY_LOST
        return VoidReason.NONE

    async def carry_out(self, approval: Approval, text: str) -> Outcome:
        """Execute an order in its author's name, unless the user has changed since."""
        order, orderer = _read(text), Staff(AuditContext(approval.orderer, self.context.now))
        if isinstance(order, Invitation):
            await self.invite(orderer, order)
        else:
            await self._do(orderer, order, _Guard(order=order))
        return Outcome.DONE

    def order_document(self, text: str) -> OrderDocument:
        """Return the order as a document."""
        order = _read(text)
        shown: OrderDocument = {"email": order.email}
        if isinstance(order, Invitation):
            shown["name"] = order.name
        else:
            shown["user_id"] = order.user_id
        if not isinstance(order, FactorReset):
            shown["roles"] = [each.value for each in order.roles]
            shown["companies"] = order.companies
        if isinstance(order, CompaniesGrant):
            shown["companies_before"] = order.companies_before
        return shown

    def _second_person(
        self, who: Staff, roles: Iterable[Role]
    ) -> Callable[[NewOrder], Awaitable[Approval]] | None:
        """Return the rule by which an order on these roles waits; None if done at once."""
        return second_person(self.wait, who) if may_write(roles) else None

    async def _do(self, who: Staff, order: UserChange, guard: _Guard) -> UserRecord:
        """Execute an order on a user, by one person or by two."""
        found = await self.find(order.user_id)
        match order:
            case RoleGrant():
                given = frozenset(order.roles)
                return await self._change(
                    who,
                    found,
                    guard,
                    lambda user: replace(user, roles=user.roles | given),
                    "user.roles_changed",
                    added=_words(given),
                )
            case CompaniesGrant():
                shown = await self._known(order.companies)
                return await self._change(
                    who,
                    found,
                    guard,
                    lambda user: replace(user, companies=shown),
                    "user.companies_changed",
                    companies=_words(shown) or "all",
                )
            case Enabling():
                return await self._change(
                    who, found, guard, lambda user: replace(user, active=True), "user.enabled"
                )
            case FactorReset():
                made = await self._change(
                    who,
                    found,
                    guard,
                    lambda user: replace(user, totp=None, factor_reset=True),
                    _RESET,
                )
                await self.context.stores.users.replace_codes(found.id, ())
                subject = ("Segundo fator removido", "Second factor removed")
                text = (
                    "Um administrador removeu o segundo fator da sua conta.",
                    "An administrator has removed the second factor of your account.",
                )
                await Mailer(self.context).notify(found, subject, text)
                return made

    async def _set_roles(
        self, who: Staff, found: User, guard: _Guard, roles: frozenset[Role]
    ) -> UserRecord:
        return await self._change(
            who,
            found,
            guard,
            lambda user: replace(user, roles=roles),
            "user.roles_changed",
            roles=_words(roles),
        )

    async def _change(
        self,
        who: Staff,
        found: User,
        guard: _Guard,
        update: Callable[[User], User],
        word: str,
        **details: str,
    ) -> UserRecord:
        """Change another user and end their sessions; wider rights are mailed."""
        _refuse_self(who, found)

        def update_guarded(user: User) -> User:
            """Check the user as stored now; the store compares once more."""
            guard.check(user)
            return update(user)

        def event_of(user: User) -> AuditEvent:
            by = who.acting.actor
            return self.context.audit_event(by, word, f"user:{user.id}", **details)

        removes = EVERY if word == _RESET else ""
        user = await self.context.change_user(found.id, update_guarded, event_of, removes)
        if user is None:
            raise _absent(found.id)
        await self._end_sessions(who, user.id, word)
        self.context.events.on_security_event(word.replace(".", "_"), user.id)
        if _may_do_more(found, user):
            await UserNotices(Mailer(self.context)).tell_of_more(user, who.acting.actor)
        return UserRecord.of(user)

    async def _end_sessions(self, who: Staff, user_id: str, why: str) -> int:
        """End every session of a user; return how many."""
        by, now = who.acting.actor, self.context.now()
        event = self.context.audit_event(by, "sessions.ended", f"user:{user_id}", why=why)
        return await self.context.stores.sessions.end_all(user_id, now, why, "", event)

    async def _seen(self, who: Staff, user_id: str) -> User:
        """Return a user whom the caller may see."""
        if who.person is None:
            return await self.find(user_id)
        found = await self.context.stores.users.visible(user_id.lower(), who.scope)
        if found is None:
            raise ServiceError(NOT_FOUND, "user")
        return found

    async def _checked(self, wanted: InvitationBody) -> User:
        """Return the user that ``create`` would store now; RuleViolation as it raises."""
        user = await self._read(wanted)
        if await self.context.stores.users.find_by_email(user.email) is not None:
            problem = AlreadyExists(user.id)
            raise _taken(user.email) from problem
        return user

    async def _read(self, wanted: InvitationBody) -> User:
        """Check the fields of a new user, and return the user."""
        if not wanted.roles:
            message = "a person has at least one role"
            raise RuleViolation(message, "missing", field="roles")
        try:
            address = strict.email(wanted.email)
        except strict.Malformed as problem:
            message = f"not an e-mail address: {wanted.email!r}"
            raise RuleViolation(message, "email_form", field="email") from problem
        now = self.context.now()
        fields = msgspec.structs.asdict(wanted) | {
            "email": address,
            "name": name(wanted.name),
            "companies": await self._known(wanted.companies),
        }
        stored = {"id": self.context.new_id(), "created_at": now, "updated_at": now}
        return msgspec.convert(fields | stored, User)

    def _refuse_weak(self, password: str) -> None:
        """Refuse a weak password in the words of the command line."""
        try:
            NewPasswords(self.context).refuse_weak(password)
        except ServiceError as problem:
            raise RuleViolation(problem.detail, problem.reason, field="password") from problem

    async def _known(self, companies: Iterable[str]) -> frozenset[str]:
        """Return the ids of companies; raises ``RuleViolation`` for one that does not exist."""
        return frozenset([(await self.known_company(each, "companies")).id for each in companies])

    def _named(self, who: Staff, wanted: Iterable[str]) -> Sequence[str]:
        """
        Read the limit of another user; it may not reach beyond the caller's own.

        Raises:
            RuleViolation: a name that is no UUID, or a limit that is wider than the scope.
        """
        try:
            companies = frozenset(map(strict.uuid_text, wanted))
        except ValueError as problem:
            message = "a company is named by its id"
            raise RuleViolation(message, "uuid_form", field="companies") from problem
        if not who.scope.covers(companies):
            message = "name companies that you see yourself"
            raise RuleViolation(message, "company_unknown", field="companies")
        return sorted(companies)

    async def _within(self, who: Staff, problem: RuleViolation, email: str) -> RuleViolation:
        """Say of a person who is not shown no more than that they cannot be invited."""
        if problem.reason != "taken":
            return problem
        visible = await self.context.stores.users.visible(email.strip().lower(), who.scope)
        if visible is not None:
            return problem
        message = "this address cannot be invited here; ask an administrator of every company"
        return RuleViolation(message, "not_here", field="email")

    async def _standings(self, users: Sequence[User]) -> Sequence[UserStanding]:
        """Look up when users signed in last, and whether they are locked out."""
        signed_in = await self.context.stores.users.last_sign_ins([each.id for each in users])
        locked = await Lockouts(self.context).of(users)
        return [
            UserStanding.of(
                each,
                last_sign_in_at=signed_in.get(each.id),
                locked=each.id in locked,
                locked_until=locked[each.id].until if each.id in locked else None,
            )
            for each in users
        ]


_read: Final[Callable[[str], UserOrder]] = msgspec.json.Decoder(UserOrder).decode


def _new_order(
    order: UserOrder, subject: str, companies: AbstractSet[str] = frozenset()
) -> NewOrder:
    """Let an order wait; of several companies, or all, people without limits decide."""
    return NewOrder(
        kind=ApprovalKind(str(order.__struct_config__.tag)),
        text=msgspec.json.encode(order).decode(),
        company_id=next(iter(companies)) if len(companies) == 1 else None,
        subject=subject,
    )


def _as_found(who: Staff, found: User) -> _Guard:
    """Guard a change that one person may make while the user is as read."""
    return _Guard(expected=Expected(frozenset({version_of_user(found)})), scope=who.scope)


def _refuse(who: Staff, found: User, expected: Expected) -> None:
    """Refuse an act on the caller's own account, or on another version than the one read."""
    _refuse_self(who, found)
    expected.check(version_of_user(found))


def _may_do_more(before: User, after: User) -> bool:
    """Return whether a user has more roles or companies than before, or is enabled again."""
    sees_more = not scope_of(before.companies).covers(after.companies)
    return after.active and (not before.active or not after.roles <= before.roles or sees_more)


def _refuse_self(who: Staff, found: User) -> None:
    if who.acting.actor == f"user:{found.email}":
        message = "nobody does this to themselves; ask another administrator"
        raise RuleViolation(message, "own_record")


def _refuse_lacking(who: Staff, roles: Iterable[Role]) -> None:
    """Refuse to give rights that the caller lacks; rights over money take two people instead."""
    if who.person is not None and not may_grant(who.person.roles, roles):
        raise ServiceError(FORBIDDEN, "lacking", detail=_LACKS)


def _words(names: Iterable[str]) -> str:
    return " ".join(sorted(names))


def _taken(address: str) -> RuleViolation:
    message = f"there is a person of the address {address} already"
    return RuleViolation(message, "taken", field="email")


def _absent(user_id: str) -> RuleViolation:
    message = f"there is no person {user_id}"
    return RuleViolation(message, "user", field="user_id")
