"""Web push: every subscribed browser of a person is sent the message, encrypted for it alone."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

import orjson

from gateway.core.clocks import Now
from gateway.deliveries.model import Outcome
from gateway.deliveries.sender import Sender
from gateway.notifications.model import Occasion, PushSubscription, Way
from gateway.notifications.recipients import Recipients, UserRecipient
from gateway.notifications.subscriptions import Address, SubscriptionRecords
from gateway.notifications.texts import compose, push_body
from gateway.security.sealing import SealBroken
from gateway.security.webpush import PushSigner, encrypt, new_private_key

_log = logging.getLogger(__name__)

_KEPT_BY_SERVICE: Final = timedelta(hours=12)
"""For a telephone that is off; what no longer holds then is found on the page."""
_TOPIC_CHARS: Final = 32
_ENDED: Final = frozenset({HTTPStatus.NOT_FOUND.value, HTTPStatus.GONE.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class PushChannel:
    """
    People with subscribed browsers.

    Attributes:
        signer: Proves who sends; None where push is off, and nobody is subscribed.
        origin: The begin of links.
    """

    everybody: Recipients
    subscriptions: SubscriptionRecords
    sender: Sender
    signer: PushSigner | None
    origin: str
    now: Now

    @property
    def way(self) -> Way:
        """Return the way of browsers."""
        return Way.PUSH

    async def recipients(self) -> Sequence[UserRecipient]:
        """Return the people with subscribed browsers."""
        return await self.everybody.pushed()

    async def call(self, recipient: UserRecipient, occasions: Sequence[Occasion]) -> Outcome | None:
        """
        Send one message to each browser of a person; those that ended are forgotten.

        Returns:
            Of the browser that took it, if one did.
        """
        found = await self.subscriptions.of(recipient.user.id)
        if self.signer is None or not found:
            return None
        language = recipient.user.preferences.language or ""
        content = orjson.dumps(push_body(compose(occasions, language, self.origin), occasions))
        urgency = "high" if any(each.is_urgent for each in occasions) else "normal"
        outcomes = await asyncio.gather(
            *(self._send(each, content, self.signer, urgency) for each in found)
        )
        sent = [each for each in outcomes if each is not None]
        return next((each for each in sent if each.is_delivered), sent[0] if sent else None)

    def companies(self, recipient: UserRecipient) -> None:
        """Leave whose the audit event is to the store."""
        del recipient

    async def _send(
        self, to: PushSubscription, content: bytes, signer: PushSigner, urgency: str
    ) -> Outcome | None:
        try:
            address = await self.subscriptions.address(to)
        except SealBroken:
            _log.error("subscription_key_gone subscription=%s", to.id)
            address = None
        if address is None:
            return None
        headers = {
            "Authorization": signer.authorization(address.endpoint, self.now()),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(int(_KEPT_BY_SERVICE.total_seconds())),
            "Topic": hashlib.sha256(content).hexdigest()[:_TOPIC_CHARS],
            "Urgency": urgency,
        }
        body = _sealed(content, address)
        outcome = await self.sender.post(address.endpoint, body, headers)
        if outcome.status in _ENDED:
            await self.subscriptions.end(to.id)
        elif outcome.is_delivered:
            await self.subscriptions.note(to.id, outcome.at)
        return outcome


def _sealed(content: bytes, address: Address) -> bytes:
    return encrypt(content, address.keys, new_private_key(), os.urandom)
