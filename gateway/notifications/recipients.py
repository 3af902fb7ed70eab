"""Recipients of notifications: active people with their choices, and chats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Now
from gateway.core.company_scope import scope_of
from gateway.core.sessions import SignedInUser
from gateway.core.user import Profile, User
from gateway.identity.store import StoredUsers
from gateway.notifications.model import DEFAULT, Chat, Choice, Kind, Occasion, Way
from gateway.notifications.occasions import Occasions
from gateway.notifications.store import ChatRecords, ChoiceRecords
from gateway.notifications.subscriptions import SubscriptionRecords

_PROFILE: Final = tuple(Profile.__dataclass_fields__)
_OF_CHATS: Final = Choice()
"""A chat is quiet at night, as people are by default."""


class Recipient(Protocol):
    """A person or a chat that gets notifications."""

    @property
    def name(self) -> str:
        """Return ``user:`` or ``chat:`` and the id."""
        ...

    @property
    def way(self) -> Way:
        """Return the way that messages take."""
        ...

    @property
    def choice(self) -> Choice:
        """Return the choice of times and kinds."""
        ...

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return the kinds that the recipient gets."""
        ...

    @property
    def version(self) -> object:
        """Return a value that changes with the recipient's rights and choices."""
        ...

    async def concerned(self, occasions: Sequence[Occasion]) -> Sequence[Occasion]:
        """Return the occasions that the recipient is notified of."""
        ...


@dataclass(frozen=True, slots=True)
class UserRecipient:
    """An active user, by one way."""

    user: User
    choice: Choice
    occasions: Occasions
    now: Now
    way: Way = Way.MAIL

    @property
    def name(self) -> str:
        """Return the user's name in notifications and in the audit log."""
        return f"user:{self.user.id}"

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return what the user has chosen for the way."""
        return frozenset(self.choice.push) if self.way is Way.PUSH else self.choice.kinds

    @property
    def version(self) -> object:
        """Return what the user may see and has chosen."""
        return self.user.roles, self.user.companies, self.choice

    async def concerned(self, occasions: Sequence[Occasion]) -> Sequence[Occasion]:
        """Return the occasions that the user has chosen and may act on."""
        chosen = [each for each in occasions if each.kind in self.kinds]
        return await self.occasions.concerning(_staff(self.user, self.now), chosen, self.now())


@dataclass(frozen=True, slots=True)
class ChatRecipient:
    """A chat."""

    chat: Chat
    occasions: Occasions

    @property
    def name(self) -> str:
        """Return the chat's name in notifications and in the audit log."""
        return self.chat.recipient

    @property
    def way(self) -> Way:
        """Return the way of chats."""
        return Way.CHAT

    @property
    def choice(self) -> Choice:
        """Return the choice of all chats."""
        return _OF_CHATS

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return what was chosen for the chat."""
        return frozenset(self.chat.kinds)

    @property
    def version(self) -> object:
        """Return the chat's company and kinds."""
        return self.chat.company_id, self.chat.kinds

    async def concerned(self, occasions: Sequence[Occasion]) -> Sequence[Occasion]:
        """Return the occasions of the chat's kinds and company."""
        chosen = [each for each in occasions if each.kind in self.kinds]
        return await self.occasions.concerning_chat(self.name, self.chat.company_id, chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipients:
    """Reads all recipients."""

    users: StoredUsers
    choices: ChoiceRecords
    chats: ChatRecords
    subscriptions: SubscriptionRecords
    occasions: Occasions
    now: Now

    async def people(self) -> Sequence[UserRecipient]:
        """Return the users who can sign in, and want to be mailed something."""
        return await self._by(Way.MAIL, await self.users.list())

    async def pushed(self) -> Sequence[UserRecipient]:
        """Return the users who can sign in and have subscribed a browser."""
        subscribed = await self.subscriptions.people()
        users = await self.users.list(subscribed) if subscribed else ()
        return await self._by(Way.PUSH, users)

    async def rooms(self) -> Sequence[ChatRecipient]:
        """Return the chats."""
        return [ChatRecipient(each, self.occasions) for each in await self.chats.every()]

    async def _by(self, way: Way, users: Sequence[User]) -> Sequence[UserRecipient]:
        chosen = await self.choices.every() if users else {}
        people = [
            UserRecipient(each, chosen.get(each.id, DEFAULT), self.occasions, self.now, way)
            for each in users
            if each.state == "active"
        ]
        return [each for each in people if each.kinds]


def _staff(user: User, now: Now) -> Staff:
    """Return a user as an actor: rights and companies decide which occasions concern them."""
    profile = {name: getattr(user, name) for name in _PROFILE}
    person = SignedInUser(
        user_id=user.id, session_id="", factor_at=None, has_factor=user.has_factor, **profile
    )
    return Staff(AuditContext(person.actor, now), scope_of(user.companies), person)
