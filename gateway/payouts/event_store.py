"""Events of payouts in the store: only ever added, and deleted when they are old."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, bindparam, delete, insert, select
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.payouts.events import KEPT_FACTS, Facts, PayoutEvent
from gateway.payouts.model import EventKind, PayoutState
from gateway.payouts.rows import key_columns
from gateway.store.kernel.database import Database, FactSealing
from gateway.store.kernel.partitions import EVENTS
from gateway.store.tables.columns import Record, written_in_ascii
from gateway.store.tables.core import payout_events

# One transaction deletes no more: a payout that is stored meanwhile waits for it.
_AT_ONCE = 1_000
_APPEND = insert(payout_events)
_OF = (
    select(payout_events)
    .where(
        payout_events.c.account_id == bindparam("account_id"),
        payout_events.c.reference_sha256 == bindparam("reference_sha256"),
    )
    .order_by(payout_events.c.at, payout_events.c.number)
)
# In the order in which they were added, which is that of time but for a moment.
_OLDEST = (
    select(payout_events.c.number, payout_events.c.at)
    .where(payout_events.c.number > bindparam("after_number"))
    .order_by(payout_events.c.number)
    .limit(_AT_ONCE)
)


class StoredPayoutEvents:
    """The events of payouts; whoever changes a payout writes its event with the change."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, account_id: str, reference: str) -> Sequence[PayoutEvent]:
        """Return what happened to one, oldest first."""
        rows = await self._database.rows(_OF, key_columns(account_id, reference))
        return [_restored(row, reference, self._database.facts) for row in rows]

    async def forget(self, before: datetime) -> int:
        """
        Delete what happened before an instant; return how many events, or months on PostgreSQL.

        Those younger than thirty days by the database's own clock stay.
        """
        if self._database.writer.dialect.name == "postgresql":
            return await EVENTS.renew(self._database, before)
        deleted = last = 0
        while True:
            async with self._database.writing() as connection:
                rows = (await connection.execute(_OLDEST, {"after_number": last})).all()
                if not any(row.at < before for row in rows):
                    return deleted
                first, last = rows[0].number, rows[-1].number
                old = delete(payout_events).where(
                    _between(first, last), payout_events.c.at < before
                )
                deleted += (await connection.execute(old)).rowcount


def _between(first: int, last: int) -> ColumnElement[bool]:
    return and_(payout_events.c.number >= first, payout_events.c.number <= last)


def event_row(event: PayoutEvent, sealing: FactSealing | None) -> dict[str, object]:
    """Return all columns of a new event but its number."""
    key = key_columns(event.account_id, event.reference)
    return {
        **key,
        "attempt": event.attempt,
        "kind": event.kind.value,
        "at": event.at,
        "after": None if event.after is None else event.after.value,
        "sealed_facts": _sealed(event, key["reference_sha256"], sealing),
    }


async def append(database: Database, connection: AsyncConnection, event: PayoutEvent) -> None:
    """Add an event inside the transaction of what it tells."""
    await connection.execute(_APPEND, event_row(event, database.facts))


def _sealed(event: PayoutEvent, digest: object, sealing: FactSealing | None) -> bytes | None:
    facts = event.facts
    if not facts.keys() <= KEPT_FACTS:
        facts = {name: value for name, value in facts.items() if name in KEPT_FACTS}
    if not facts or sealing is None:
        return None
    content = written_in_ascii(facts).encode()
    return sealing.seal(content, _bound(event.account_id, digest, event.attempt, event.kind.value))


def _restored(row: Record, reference: str, sealing: FactSealing | None) -> PayoutEvent:
    return PayoutEvent(
        account_id=row.account_id,
        reference=reference,
        attempt=row.attempt,
        kind=EventKind(row.kind),
        at=row.at,
        after=None if row.after is None else PayoutState(row.after),
        facts=_opened(row, sealing),
    )


def _opened(row: Record, sealing: FactSealing | None) -> Facts:
    if row.sealed_facts is None or sealing is None:
        return {}
    bound = _bound(row.account_id, row.reference_sha256, row.attempt, row.kind)
    content = sealing.open(row.sealed_facts, bound)
    facts: Facts = {} if content is None else json.loads(content)
    return {name: value for name, value in facts.items() if name in KEPT_FACTS}


def _bound(account_id: str, digest: object, attempt: int, kind: str) -> str:
    """Name the row that facts are sealed for: they say nothing in another one."""
    named = digest.hex() if isinstance(digest, bytes) else ""
    return f"payout_event:{account_id}:{named}:{attempt}:{kind}"
