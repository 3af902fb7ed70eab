"""What the bank and the store say, read at one time."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select

from gateway.app.store import open_store
from gateway.deliveries.model import DeliveryState
from gateway.events.model import EventType
from gateway.payouts.model import PayoutState
from gateway.store.tables.core import deliveries, events, payouts
from tests.proofs.events.world import World

Change = tuple[str, str, str]
"""Account, type of event, and what it is about."""

_OPEN: Final = frozenset(
    {PayoutState.HELD, PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.ACCEPTED}
)
_FAILED: Final = frozenset({PayoutState.REJECTED, PayoutState.FAILED})
_PAYMENTS: Final = "SELECT account_id, e2e_id, reference FROM payments"


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment to an account of ours, as the bank has it."""

    account_id: str
    e2e_id: str
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """
    Everything that is compared.

    Attributes:
        events, sent, payouts: Rows of the store; ``sent`` of deliveries.
        executed: Keys of the payouts that the bank has made, one for each time.
        returned, refunded: Ids of returns and refunds, with the key of the payout and the
            end-to-end id of the payment that they are of.
    """

    events: Sequence[Any]
    sent: Sequence[Any]
    payouts: Sequence[Any]
    executed: Counter[str]
    returned: Mapping[str, str]
    payments: Sequence[Payment]
    refunded: Mapping[str, str]

    @property
    def told(self) -> Counter[Change]:
        """All that the feeds tell."""
        return Counter(
            (row.account_id, row.type, row.return_id or row.e2e_id or row.reference or "")
            for row in self.events
        )

    def happened(self, before: Sequence[Payment]) -> Counter[Change]:
        """
        Return all that is to be told: what the bank has done, and payouts that failed.

        Payments from ``before`` the campaign may be told or not.
        """
        of_key = {row.provider_key: (row.account_id, row.reference) for row in self.payouts}
        of_payment = {each.e2e_id: each.account_id for each in self.payments}
        nobody = ("nobody", "")
        wanted = Counter[Change]()
        for key, times in self.executed.items():
            account_id, reference = of_key.get(key, nobody)
            wanted[account_id, EventType.PAYOUT_PAID.value, reference or key] += times
        for row in self.payouts:
            if row.state in _FAILED:
                wanted[row.account_id, EventType.PAYOUT_FAILED.value, row.reference] += 1
        for name, key in self.returned.items():
            wanted[of_key.get(key, nobody)[0], EventType.PAYOUT_RETURNED.value, name] += 1
        for each in {*self.payments} - {*before}:
            wanted[each.account_id, EventType.PIX_RECEIVED.value, each.e2e_id] += 1
        for name, e2e_id in self.refunded.items():
            wanted[of_payment[e2e_id], EventType.PIX_REFUNDED.value, name] += 1
        return wanted

    def left(self, before: Sequence[Payment]) -> int:
        """Count what has not ended, is not told, or is not delivered."""
        unsettled = sum(row.state in _OPEN and not row.review for row in self.payouts)
        waiting = sum(row.state == DeliveryState.WAITING for row in self.sent)
        return unsettled + waiting + (self.happened(before) - self.told).total()


async def picture(world: World) -> Picture:
    """Read everything."""
    control = world.control
    executed = (await control.get("executions"))["data"]
    returned = (await control.get("returns"))["data"]
    refunded = (await control.get("refunds"))["data"]
    store = open_store(world.store)
    try:
        return Picture(
            events=await store.database.rows(select(events)),
            sent=await store.database.rows(select(deliveries)),
            payouts=await store.database.rows(select(payouts)),
            executed=Counter(row["key"] for row in executed),
            returned={row["id"]: row["key"] for row in returned},
            payments=payments(world),
            refunded={row["return_id"]: row["payment"] for row in refunded},
        )
    finally:
        await store.close()


def payments(world: World) -> Sequence[Payment]:
    """Read every payment that the bank has booked for the accounts, in its own file."""
    ours = {there: here for here, there in world.bank_ids.items()}
    with closing(sqlite3.connect(f"file:{world.bank_file}?mode=ro", uri=True)) as books:
        rows = books.execute(_PAYMENTS).fetchall()
    return [Payment(ours[there], e2e, name or "") for there, e2e, name in rows if there in ours]
