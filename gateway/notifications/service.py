"""Choices of people, and chats for a company or for all companies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import UNSET
from yarl import URL

from gateway.audit import store as audit_log
from gateway.companies.service import known_company, no_company
from gateway.core.access import Staff, requires
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import RuleViolation, name
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.user_errors import NOT_FOUND, SESSION_REQUIRED
from gateway.core.windows import Listed
from gateway.deliveries.sender import Sender
from gateway.endpoints.addresses import read_address
from gateway.notifications.chat import write
from gateway.notifications.model import (
    BRIEF,
    MOST_CHATS,
    MOST_SUBSCRIPTIONS,
    NOT_FOR_CHATS,
    Chat,
    ChatSearch,
    ChatTry,
    Choice,
    Kind,
    NewChat,
    NewSubscription,
    PushSubscription,
)
from gateway.notifications.store import ChatRecords, ChoiceRecords
from gateway.notifications.subscriptions import SubscriptionRecords
from gateway.notifications.texts import trial
from gateway.security.webpush import read_keys
from gateway.store.kernel.database import Database

_LANGUAGES: Final = ("pt-BR", "en")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifications:
    """
    People's own choices, which need no right.

    Attributes:
        push_key: The public key that browsers subscribe to; empty where push is off.
        allow_local: Push services may be on this machine; in the sandbox alone.
        new_id: Makes a UUID.
    """

    choices: ChoiceRecords
    subscriptions: SubscriptionRecords
    push_key: str
    allow_local: bool
    new_id: Callable[[], str]

    async def choice(self, who: Staff) -> Choice:
        """Read your own choice."""
        return await self.choices.of(_id(who))

    async def choose(self, who: Staff, choice: Choice) -> None:
        """
        Set your own choice.

        Raises:
            RuleViolation: a kind is told both at once and in the evening, or cannot be told in the
                evening; quiet hours have one end alone, or none between.
        """
        if {*choice.at_once} & {*choice.digest} or BRIEF & {*choice.digest}:
            message = "a kind is told at once or in the evening; a secret at once alone"
            raise RuleViolation(message, "not_one_of", field="digest")
        begins, ends = choice.quiet_from, choice.quiet_until
        if bool(begins) != bool(ends) or (begins and begins == ends):
            message = "quiet hours have a beginning and another end"
            raise RuleViolation(message, "form", field="quiet_until")
        details = {
            "at_once": _words(choice.at_once),
            "evening": _words(choice.digest),
            "push": _words(choice.push),
            "quiet": f"{begins}-{ends}" if begins else "none",
        }
        user_id = _id(who)
        event = who.acting.event("notifications.chosen", f"user:{user_id}", details)
        await self.choices.put(user_id, choice, event)

    async def browsers(self, who: Staff) -> Sequence[PushSubscription]:
        """List your own browsers that are sent push messages."""
        return await self.subscriptions.of(_id(who))

    async def subscribe(self, who: Staff, wanted: NewSubscription, browser: str) -> None:
        """
        Send push messages to a browser of yours from now on.

        Raises:
            RuleViolation: push is off, or the address or a key is unusable.
        """
        if not self.push_key:
            message = "notifications.push_key is not set"
            raise RuleViolation(message, "push_off")
        try:
            read_keys(wanted.public, wanted.auth)
        except ValueError as problem:
            message = "not the keys of a subscription"
            raise RuleViolation(message, "form", field="public") from problem
        endpoint = _address(wanted.endpoint, "endpoint", allow_local=self.allow_local)
        user_id = _id(who)
        made = PushSubscription(
            id=self.new_id(), user_id=user_id, browser=browser, created_at=who.acting.now()
        )
        event = who.acting.event("push.subscribed", f"user:{user_id}")
        address = (endpoint, wanted.public, wanted.auth)
        await self.subscriptions.add(made, address, MOST_SUBSCRIPTIONS, event)

    async def unsubscribe(self, who: Staff, subscription_id: str) -> None:
        """
        Send no more push messages to a browser of yours.

        Raises:
            ServiceError: ``NOT_FOUND``: you have no such browser.
        """
        user_id = _id(who)
        event = who.acting.event("push.unsubscribed", f"user:{user_id}")
        if not await self.subscriptions.remove(subscription_id, user_id, event):
            raise ServiceError(NOT_FOUND, "subscription")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """
    Chats that get the notifications of a company, or of all companies.

    Attributes:
        allow_local: Chats may be on this machine; in the sandbox alone.
        new_id: Makes a UUID.
        new_sender: Makes a client, which calls one chat and is closed.
        origin: The begin of links.
    """

    database: Database
    records: ChatRecords
    new_sender: Callable[[], Sender]
    origin: str
    allow_local: bool
    new_id: Callable[[], str]

    @requires(Area.COMPANY, Action.WRITE)
    async def list(self, who: Staff) -> Sequence[Chat]:
        """List the chats of companies in scope; their addresses are secrets."""
        return await self.records.visible(who.scope)

    @requires(Area.COMPANY, Action.READ)
    async def page(self, who: Staff, wanted: ChatSearch) -> Listed[Chat]:
        """List the chats of companies in scope, oldest first; their addresses are secrets."""
        return await self.records.page(who.scope, wanted.company_id, wanted.paging)

    @requires(Area.COMPANY, Action.WRITE)
    async def add(self, who: Staff, wanted: NewChat) -> Chat:
        """
        Add a chat.

        Raises:
            RuleViolation: an unusable name or address, nothing to tell, no such company in scope,
                or too many chats; the operators' chat is for people of no limit to add.
        """
        company_id = await self._company(who, wanted.company_id)
        url = _address(wanted.webhook, "webhook", allow_local=self.allow_local)
        if not wanted.kinds or NOT_FOR_CHATS & {*wanted.kinds}:
            message = "a chat is told of something, and of nothing that is for one person"
            raise RuleViolation(message, "missing", field="kinds")
        if wanted.language not in _LANGUAGES:
            message = f"the language is one of {', '.join(_LANGUAGES)}"
            raise RuleViolation(message, "not_one_of", field="language")
        chat = Chat(
            id=self.new_id(),
            company_id=company_id,
            name=name(wanted.name),
            format=wanted.format,
            host=URL(url).host or "",
            kinds=tuple(kind for kind in Kind if kind in wanted.kinds),
            language=wanted.language,
            created_at=who.acting.now(),
            created_by=who.acting.actor,
            last_ok_at=None,
            failing_since=None,
        )
        event = who.acting.event(
            "chat.added", chat.recipient, {"name": chat.name, "kinds": _words(chat.kinds)}
        )
        if not await self.records.add(chat, url, MOST_CHATS, _of(event, chat)):
            message = f"there are {MOST_CHATS} chats already"
            raise RuleViolation(message, "chats_full")
        return chat

    @requires(Area.COMPANY, Action.WRITE)
    async def send_test(self, who: Staff, chat_id: str) -> ChatTry:
        """
        Send a test message to a chat now, once, and return what came of it.

        Raises:
            ServiceError: ``NOT_FOUND``: there is none in the caller's companies.
            RuleViolation: its address is sealed under a key that is gone: add the chat again.
        """
        found = await self._found(who, chat_id)
        sender = self.new_sender()
        try:
            outcome = await write(self.records, sender, found, trial(found.language, self.origin))
        finally:
            await sender.close()
        if outcome is None:
            message = "the chat's address is sealed under a key that is not here"
            raise RuleViolation(message, "chat_sealed")
        details = {"name": found.name, "outcome": outcome.failure.value or "ok"}
        event = who.acting.event("chat.tried", found.recipient, details)
        async with self.database.writing() as connection:
            await audit_log.append(connection, _of(event, found))
        return ChatTry(
            at=outcome.at,
            status=UNSET if outcome.status is None else outcome.status,
            failure=outcome.failure,
        )

    @requires(Area.COMPANY, Action.WRITE)
    async def remove(self, who: Staff, chat_id: str) -> None:
        """
        Remove a chat; what waits for it is not sent.

        Raises:
            ServiceError: ``NOT_FOUND``: there is none in the caller's companies.
        """
        found = await self._found(who, chat_id)
        event = who.acting.event("chat.removed", found.recipient, {"name": found.name})
        if not await self.records.remove(found.id, who.scope, _of(event, found)):
            raise ServiceError(NOT_FOUND, "chat")

    async def _found(self, who: Staff, chat_id: str) -> Chat:
        found = next((each for each in await self.list(who) if each.id == chat_id), None)
        if found is None:
            raise ServiceError(NOT_FOUND, "chat")
        return found

    async def _company(self, who: Staff, company_id: str) -> str | None:
        if company_id:
            found = (await known_company(self.database, company_id)).id
            if who.scope.includes(found):
                return found
        elif who.scope.everything:
            return None
        raise no_company(company_id)


def _address(text: str, field: str, *, allow_local: bool) -> str:
    try:
        return read_address(text, allow_local=allow_local)
    except RuleViolation as problem:
        message = "an address as those of endpoints are"
        raise RuleViolation(message, problem.reason, field=field) from problem


def _of(event: AuditEvent, chat: Chat) -> AuditEvent:
    """Return the event as one of the chat's company."""
    return replace(event, companies=frozenset(filter(None, [chat.company_id])))


def _words(kinds: Collection[Kind]) -> str:
    return " ".join(kinds) or "none"


def _id(who: Staff) -> str:
    if who.person is None:
        raise ServiceError(SESSION_REQUIRED, "missing")
    return who.person.user_id
