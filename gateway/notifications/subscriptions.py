"""Browsers that are subscribed to push messages; their addresses and keys are encrypted."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import orjson
from sqlalchemy import delete, insert, select, update

from gateway.audit import store as audit_log
from gateway.core.audit import AuditEvent
from gateway.notifications.model import PushSubscription
from gateway.security.sealing import Sealer
from gateway.security.webpush import BrowserKeys, read_keys
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.notifications import push_subscriptions

_S: Final = push_subscriptions.c
_NEWEST: Final = select(push_subscriptions).order_by(_S.created_at.desc(), _S.id)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a browser's messages are sent, and its keys."""

    endpoint: str
    keys: BrowserKeys


class SubscriptionRecords:
    """The subscriptions; ``StoreUnavailable`` when the store does not answer."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        self._database = database
        self._sealer = sealer

    async def people(self) -> Collection[str]:
        """Return the ids of the users with a subscription."""
        rows = await self._database.rows(select(_S.user_id).distinct())
        return {row.user_id for row in rows}

    async def of(self, user_id: str) -> Sequence[PushSubscription]:
        """Return a person's subscriptions, the newest first."""
        rows = await self._database.rows(_NEWEST.where(_S.user_id == user_id))
        return [from_row(row, PushSubscription) for row in rows]

    async def address(self, subscription: PushSubscription) -> Address | None:
        """
        Return where a message is sent; None when the subscription has ended.

        Raises:
            SealBroken: it is sealed under a key that is not here.
        """
        wanted = select(_S.sealed_address).where(_S.id == subscription.id)
        row = await self._database.first(wanted)
        if row is None:
            return None
        found = orjson.loads(self._sealer.open(row.sealed_address, _bound(subscription.id)))
        return Address(found["endpoint"], read_keys(found["public"], found["auth"]))

    async def add(
        self,
        made: PushSubscription,
        address: tuple[str, str, str],
        most: int,
        event: AuditEvent,
    ) -> None:
        """
        Store a subscription; the same browser's former one and a person's oldest ones go.

        Args:
            made: The subscription.
            address: The endpoint, and the keys as the browser gives them.
            most: How many a person may have.
            event: Of the act.
        """
        endpoint, public, auth = address
        text = orjson.dumps({"endpoint": endpoint, "public": public, "auth": auth}).decode()
        digest = hashlib.sha256(endpoint.encode()).digest()
        row = {
            **row_of(made),
            "endpoint_digest": digest,
            "sealed_address": self._sealer.seal(text, _bound(made.id)),
        }
        kept = (
            select(_S.id)
            .where(_S.user_id == made.user_id)
            .order_by(_S.created_at.desc(), _S.id)
            .limit(most - 1)
            .correlate(None)
        )
        async with self._database.writing() as connection:
            await connection.execute(delete(push_subscriptions).where(_S.endpoint_digest == digest))
            oldest = delete(push_subscriptions).where(
                _S.user_id == made.user_id, _S.id.not_in(kept)
            )
            await connection.execute(oldest)
            await connection.execute(insert(push_subscriptions), row)
            await audit_log.append(connection, event)

    async def remove(self, subscription_id: str, user_id: str, event: AuditEvent) -> bool:
        """Delete a person's subscription; False when there is none."""
        own = (_S.id == subscription_id, _S.user_id == user_id)
        return await audit_log.change(self._database, delete(push_subscriptions).where(*own), event)

    async def end(self, subscription_id: str) -> None:
        """Delete a subscription that the push service no longer knows."""
        await self._database.write(delete(push_subscriptions).where(_S.id == subscription_id))

    async def note(self, subscription_id: str, at: datetime) -> None:
        """Note that a browser's push service took a message."""
        taken = update(push_subscriptions).where(_S.id == subscription_id)
        await self._database.write(taken.values(last_ok_at=at))


def _bound(subscription_id: str) -> str:
    return f"push:{subscription_id}"
