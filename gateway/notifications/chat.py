"""Rooms of a chat, each called by its webhook."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from gateway.deliveries.model import Outcome
from gateway.deliveries.sender import Sender
from gateway.notifications.model import Occasion, Way
from gateway.notifications.recipients import ChatRecipient, Recipients
from gateway.notifications.store import ChatRecords
from gateway.notifications.texts import chat_body, compose
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
        chat = recipient.chat
        try:
            url = await self.chats.url(chat)
        except SealBroken:
            _log.error("chat_key_gone chat=%s", chat.id)
            return None
        if url is None:
            return None
        body = chat_body(compose(occasions, chat.language, self.origin), chat.format)
        outcome = await self.sender.post(url, orjson.dumps(body), _AS_JSON)
        await self.chats.note(chat, outcome.at, is_ok=outcome.is_delivered)
        return outcome

    def companies(self, recipient: ChatRecipient) -> Collection[str]:
        """Return the company of a chat; none of the operators' chat."""
        company_id = recipient.chat.company_id
        return frozenset() if company_id is None else frozenset({company_id})
