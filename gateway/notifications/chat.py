"""Rooms of a chat, each called by its webhook."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from gateway.deliveries.model import Outcome
from gateway.deliveries.sender import Sender
from gateway.notifications.model import Chat, Occasion, Way
from gateway.notifications.recipients import ChatRecipient, Recipients
from gateway.notifications.store import ChatRecords
from gateway.notifications.texts import Message, chat_body, compose
from gateway.security.sealing import SealBroken

_log = logging.getLogger(__name__)
_AS_JSON: Final = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatChannel:
    """
    The chats.

    Attributes:
        origin: The begin of links.
    """

    everybody: Recipients
    chats: ChatRecords
    sender: Sender
    origin: str

    @property
    def way(self) -> Way:
        """Return the way of chats."""
        return Way.CHAT

    async def recipients(self) -> Sequence[ChatRecipient]:
        """Return the chats."""
        return await self.everybody.rooms()

    async def call(self, recipient: ChatRecipient, occasions: Sequence[Occasion]) -> Outcome | None:
        """Write one message into a room, and note whether it was taken."""
        message = compose(occasions, recipient.chat.language, self.origin)
        return await write(self.chats, self.sender, recipient.chat, message)

    def companies(self, recipient: ChatRecipient) -> Collection[str]:
        """Return the company of a chat; none of the operators' chat."""
        company_id = recipient.chat.company_id
        return frozenset() if company_id is None else frozenset({company_id})


async def write(chats: ChatRecords, sender: Sender, chat: Chat, message: Message) -> Outcome | None:
    """Write a message into a room, and note whether it took it; None where there is no address."""
    try:
        url = await chats.url(chat)
    except SealBroken:
        _log.error("chat_key_gone chat=%s", chat.id)
        return None
    if url is None:
        return None
    body = chat_body(message, chat.format)
    outcome = await sender.post(url, orjson.dumps(body), _AS_JSON)
    await chats.note(chat, outcome.at, is_ok=outcome.is_delivered)
    return outcome
