"""
Payouts of one amount to one destination, looked for at the same moment by one statement.

It reads what the accounts in question made lately, once for all who ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.bank.payout_orders import normal_destination
from gateway.domain.payouts.payouts import Payout, PayoutState
from gateway.store.kernel.database import Database, Undone, failures_as_ours, faults_of_rows
from gateway.store.payouts.batching import BatchLimits, BatchQueue
from gateway.store.tables import columns
from gateway.store.tables.columns import Record
from gateway.store.tables.core import payouts

_LANES = 2
_MOVED_NOTHING = (PayoutState.REJECTED.value, PayoutState.FAILED.value)
_ALIKE = (payouts.c.account_id, payouts.c.centavos, payouts.c.destination)
_MOVED = select(
    *_ALIKE, payouts.c.reference, payouts.c.reference_sha256, payouts.c.created_at
).where(payouts.c.state.not_in(_MOVED_NOTHING))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Twin:
    """What is looked for: others than this reference, created since."""

    alike: tuple[str, int, str]
    digest: bytes
    since: datetime

    def is_met_by(self, row: Record) -> bool:
        return row.reference_sha256 != self.digest and bool(row.created_at >= self.since)


class DuplicateSearch:
    """The way of every look for similar payouts into a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batches: BatchQueue[_Twin, Sequence[str] | None] = BatchQueue(
            self._look, BatchLimits(count=_LANES, queue_s=database.checkout_s)
        )

    async def similar(self, payout: Payout, since: datetime) -> Sequence[str]:
        """
        Return other references with the same amount and destination, oldest first.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        destination = columns.written(normal_destination(payout.destination))
        with failures_as_ours():
            twin = _Twin(
                alike=(payout.account_id, payout.value.centavos, destination),
                digest=columns.reference_digest(payout.reference),
                since=since,
            )
            async with asyncio.timeout(self._database.whole_s):
                found = await self._batches.ask(twin)
                return (await self._alone(twin))[0] if found is None else found

    async def close(self) -> None:
        """Finish the looks that were asked for."""
        await self._batches.close()

    async def _look(self, twins: Sequence[_Twin]) -> Sequence[Sequence[str] | None]:
        """Look for all; None for whoever must ask alone, for one of these may be unspeakable."""
        if len(twins) == 1:
            return await self._alone(twins[0])
        try:
            async with self._database.reading() as connection:
                with faults_of_rows():
                    return await self._found(connection, twins)
        except Undone:
            return [None] * len(twins)

    async def _alone(self, twin: _Twin) -> Sequence[Sequence[str]]:
        async with self._database.reading() as connection:
            return await self._found(connection, [twin])

    async def _found(
        self, connection: AsyncConnection, twins: Sequence[_Twin]
    ) -> Sequence[Sequence[str]]:
        lately = _MOVED.where(payouts.c.created_at >= min(twin.since for twin in twins))
        alike = list(dict.fromkeys(twin.alike for twin in twins))
        asked = self._database.each_of(lately, _ALIKE, alike)
        oldest_first = asked.order_by(asked.selected_columns.created_at)
        rows = (await connection.execute(oldest_first)).all()
        by_content: dict[tuple[str, int, str], list[Record]] = {}
        for row in rows:
            by_content.setdefault((row.account_id, row.centavos, row.destination), []).append(row)
        return [
            [row.reference for row in by_content.get(twin.alike, ()) if twin.is_met_by(row)]
            for twin in twins
        ]
