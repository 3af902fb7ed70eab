"""Refunds that moved money, each with one event; all else is read at the bank."""

from __future__ import annotations

import logging
from collections.abc import Callable

from gateway.banks.port.refunds import Refund, RefundStatus
from gateway.core.account import Account
from gateway.core.storage import StoreUnavailable
from gateway.events import store as events
from gateway.events.model import FEED_KEPT, Event, EventType
from gateway.store.kernel.database import Database
from gateway.store.tables.core import refunded

_log = logging.getLogger(__name__)


class RefundRecords:
    """Refunds by account and the central bank's id of the way back."""

    def __init__(
        self, database: Database, new_event_id: Callable[[], str] = events.RANDOM_ID
    ) -> None:
        self._database = database
        self._new_event_id = new_event_id

    async def note(self, account: Account, refund: Refund) -> None:
        """
        Store a paid refund, and write its event, when it is first seen.

        A refund too old for the feed gets no event. Safe to repeat.

        Raises:
            StoreUnavailable: neither the refund nor an event was stored.
        """
        if refund.status is not RefundStatus.PAID or not refund.return_id:
            return
        now, row = self._database.now(), {"account_id": account.id, "return_id": refund.return_id}
        is_old = (refund.settled_at or refund.created_at) < now - FEED_KEPT
        async with self._database.writing() as connection:
            if await self._database.add(connection, refunded, row) and not is_old:
                told = Event(
                    id=self._new_event_id(),
                    account_id=account.id,
                    type=EventType.PIX_REFUNDED,
                    at=now,
                    e2e_id=refund.payment_e2e_id,
                    return_id=refund.return_id,
                )
                await events.append(connection, told)

    async def take(self, account: Account, refund: Refund) -> None:
        """Note a refund; raises nothing: the money has moved, and the next read notes it again."""
        try:
            await self.note(account, refund)
        except StoreUnavailable:
            _log.warning("refund_not_told account=%s", account.id)
