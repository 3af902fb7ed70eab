"""The register of users: created, invited, changed, disabled; a change ends their sessions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from gateway.companies.model import KnownCompany
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import RuleViolation, identifier, name
from gateway.core.browsers import ClientInfo
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.storage import AlreadyExists
from gateway.core.strict import Malformed
from gateway.core.user import Preferences, User
from gateway.core.versions import ANY_VERSION, Expected, version_of_user
from gateway.identity.challenges import Purpose
from gateway.identity.mail import Mailer
from gateway.identity.password_changes import NewPasswords
from gateway.identity.ports import IdentityContext
from gateway.identity.user_changes import audit_event, change_user

# the longest address that mail can carry (RFC 5321, errata 1690)
_LONGEST = 254


# what providers accept: no quotes, no comments, no IP addresses, ASCII only
_EMAIL = re.compile(
    r"[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}",
    re.ASCII,
)


def read_email(text: str) -> str:
    """Read an e-mail address in lower case; raises ``Malformed`` for anything else."""
    lowered = text.strip().lower()
    if len(lowered) > _LONGEST or _EMAIL.fullmatch(lowered) is None:
        raise Malformed
    return lowered


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUser:
    """
    A user to be created.

    Attributes:
        companies: The only companies they will see; empty for all.
    """

    email: str
    name: str
    roles: frozenset[Role]
    companies: frozenset[str] = frozenset()


def _anybody(_user: User) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class UserRecords:
    """
    The register of users.

    ``by`` is the actor in the audit log: ``cli:maria`` or ``user:maria@example.com``.
    Users do not disable themselves or change their own roles.

    Attributes:
        expected: A change is refused unless the user has a version that matches.
        scope: A change is refused for a user who sees a company outside of it.
        fits: A change is refused for a user of whom this is not true, as stored at that moment.
    """

    context: IdentityContext
    known_company: KnownCompany
    expected: Expected = ANY_VERSION
    scope: CompanyScope = EVERY_COMPANY
    fits: Callable[[User], bool] = _anybody

    async def prefer(self, user_id: str, chosen: Preferences) -> None:
        """Keep how the panel is shown to somebody: an act of no weight, and not on record."""
        await self.context.stores.users.prefer(user_id, chosen)

    async def create(self, by: str, order: NewUser, password: str = "") -> User:
        """
        Create a user; without a password they wait for an invitation.

        Raises:
            RuleViolation: the address is taken or malformed, a company is unknown,
                there is no role, or the password is too weak.
        """
        user = await self._read(order)
        if password:
            self._refuse_weak(password)
            user = replace(user, password=await self.context.crypto.hashing.make(password))
        event = audit_event(self.context, by, "user.created", f"user:{user.id}", **_described(user))
        try:
            await self.context.stores.users.add(user, event)
        except AlreadyExists as problem:
            raise _taken(user.email) from problem
        return user

    async def checked(self, order: NewUser) -> User:
        """
        Return the user that ``create`` would store now, without storing it.

        Raises:
            RuleViolation: as ``create`` does.
        """
        user = await self._read(order)
        if await self.context.stores.users.find_by_email(user.email) is not None:
            problem = AlreadyExists(user.id)
            raise _taken(user.email) from problem
        return user

    async def list(self) -> Sequence[User]:
        """Return all users, oldest first."""
        return await self.context.stores.users.list()

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

    async def rename(self, by: str, user_id: str, called: str) -> User:
        """Rename a user; their sessions end, as with any change."""
        wanted = name(called)
        return await self._change(
            by, user_id, lambda user: replace(user, name=wanted), "user.renamed", name=wanted
        )

    async def disable(self, by: str, user_id: str, reason: str = "") -> User:
        """Disable a user; their sessions end. Safe to repeat."""
        details = {"reason": name(reason)} if reason else {}
        return await self._change(
            by, user_id, lambda user: replace(user, active=False), "user.disabled", **details
        )

    async def enable(self, by: str, user_id: str) -> User:
        """Enable a user again."""
        return await self._change(
            by, user_id, lambda user: replace(user, active=True), "user.enabled"
        )

    async def set_roles(self, by: str, user_id: str, roles: Iterable[Role]) -> User:
        """Give a user exactly these roles; their sessions end."""
        given = frozenset(roles)
        return await self._change(
            by,
            user_id,
            lambda user: replace(user, roles=given),
            "user.roles_changed",
            roles=_words(given),
        )

    async def add_roles(self, by: str, user_id: str, roles: Iterable[Role]) -> User:
        """Add roles to those of a user; their sessions end."""
        given = frozenset(roles)
        return await self._change(
            by,
            user_id,
            lambda user: replace(user, roles=user.roles | given),
            "user.roles_changed",
            added=_words(given),
        )

    async def set_companies(self, by: str, user_id: str, companies: Iterable[str]) -> User:
        """Limit a user to these companies; empty lifts the limit. Their sessions end."""
        shown = await self.known_companies(companies)
        return await self._change(
            by,
            user_id,
            lambda user: replace(user, companies=shown),
            "user.companies_changed",
            companies=_words(shown) or "all",
        )

    async def reset_mfa(self, by: str, user_id: str) -> User:
        """
        Remove a user's second factor and recovery codes; their sessions end.

        They enrol again after signing in. Until then they can do nothing that
        requires a fresh factor.
        """
        user = await self._change(
            by,
            user_id,
            lambda user: replace(user, totp=None, factor_reset=True),
            "user.factor_reset",
        )
        await self.context.stores.users.replace_codes(user.id, ())
        subject = ("Segundo fator removido", "Second factor removed")
        text = (
            "Um administrador removeu o segundo fator da sua conta.",
            "An administrator has removed the second factor of your account.",
        )
        await Mailer(self.context).notify(user, subject, text)
        return user

    async def end_sessions(self, by: str, user_id: str) -> int:
        """End every session of a user; return how many."""
        return await self._end_sessions(by, await self.find(user_id), "by_administrator")

    async def known_companies(self, companies: Iterable[str]) -> frozenset[str]:
        """Return the ids of companies; raises ``RuleViolation`` for one that does not exist."""
        return frozenset([(await self.known_company(each, "companies")).id for each in companies])

    async def _read(self, order: NewUser) -> User:
        """Check an order and return the user it describes."""
        if not order.roles:
            message = "a person has at least one role"
            raise RuleViolation(message, "missing", field="roles")
        try:
            address = read_email(order.email)
        except Malformed as problem:
            message = f"not an e-mail address: {order.email!r}"
            raise RuleViolation(message, "email_form", field="email") from problem
        now = self.context.now()
        return User(
            id=self.context.new_id(),
            email=address,
            name=name(order.name),
            password="",
            roles=order.roles,
            companies=await self.known_companies(order.companies),
            created_at=now,
            updated_at=now,
        )

    def _refuse_weak(self, password: str) -> None:
        """Refuse a weak password with a ``RuleViolation``, as administrators expect."""
        try:
            NewPasswords(self.context).refuse_weak(password)
        except ServiceError as problem:
            raise RuleViolation(problem.detail, problem.reason, field="password") from problem

    def refuse_self(self, by: str, found: User) -> None:
        """Refuse an act on oneself that takes another administrator; raises ``RuleViolation``."""
        if by == f"user:{found.email}":
            message = "nobody does this to themselves; ask another administrator"
            raise RuleViolation(message, "own_record")

    async def _change(
        self, by: str, user_id: str, update: Callable[[User], User], word: str, **details: str
    ) -> User:
        """Change another user and end their sessions."""
        found = await self.find(user_id)
        self.refuse_self(by, found)

        def event_of(user: User) -> AuditEvent:
            return audit_event(self.context, by, word, f"user:{user.id}", **details)

        def update_expected(user: User) -> User:
            """Check the expected version; the store compares it once more."""
            if not self.scope.covers(user.companies):
                raise _absent(user.id)
            self.expected.check(version_of_user(user))
            if not self.fits(user):
                message = "the person was changed meanwhile; order it again"
                raise RuleViolation(message, "changed_meanwhile")
            return update(user)

        user = await change_user(self.context, found.id, update_expected, event_of)
        if user is None:
            raise _absent(user_id)
        await self._end_sessions(by, user, word)
        self.context.events.on_security_event(word.replace(".", "_"), user.id)
        return user

    async def _end_sessions(self, by: str, user: User, why: str) -> int:
        """End every session of a user."""
        event = audit_event(self.context, by, "sessions.ended", f"user:{user.id}", why=why)
        now = self.context.now()
        return await self.context.stores.sessions.end_all(user.id, now, why, "", event)


def _described(user: User) -> dict[str, str]:
    """Describe a new user for the audit log."""
    return {
        "email": user.email,
        "roles": _words(user.roles),
        "companies": _words(user.companies) or "all",
    }


def _words(names: Iterable[str]) -> str:
    return " ".join(sorted(names))


def _taken(address: str) -> RuleViolation:
    message = f"there is a person of the address {address} already"
    return RuleViolation(message, "taken", field="email")


def _absent(user_id: str) -> RuleViolation:
    message = f"there is no person {user_id}"
    return RuleViolation(message, "user", field="user_id")


@dataclass(frozen=True, slots=True)
class Invitations:
    """Invitations: a user is created, and sets the first password by a link."""

    context: IdentityContext
    users: UserRecords

    async def invite(self, by: str, order: NewUser) -> User:
        """
        Create a user and send them a link that works once, for three days.

        Raises:
            RuleViolation: as ``UserRecords.create`` does.
        """
        user = await self.users.create(by, order)
        await Mailer(self.context).send_invitation(user)
        return user

    async def invite_again(self, by: str, user_id: str) -> User:
        """
        Send a new link to a user who has not accepted yet; the earlier link is void.

        Raises:
            RuleViolation: there is no such user, or they have a password or are disabled.
        """
        user = await self.users.find(user_id)
        if user.password or not user.active:
            message = f"{user.email} has accepted an invitation already, or is disabled"
            raise RuleViolation(message, "not_invited")
        await self.context.audit.append(
            audit_event(self.context, by, "user.invited_again", f"user:{user.id}")
        )
        await Mailer(self.context).send_invitation(user)
        return user

    async def accept(self, token: str, password: str, client: ClientInfo) -> str:
        """
        Set the first password with the token of an invitation link.

        Returns:
            The user's id.

        Raises:
            ServiceError: NOT_POSSIBLE for a weak password, or a link that is
                unknown, used or over; TOO_MANY_ATTEMPTS.
        """
        passwords = NewPasswords(self.context)
        return (await passwords.by_link(token, Purpose.INVITATION, password, client)).id
