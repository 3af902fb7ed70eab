"""
Single payouts read by reference; reads of the same moment share one statement.

A read begins after it was asked for: it sees every commit that was acknowledged before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sqlalchemy import select

from gateway.domain.payouts.payouts import Payout
from gateway.store.kernel.database import Database, Key, failures_as_ours, faults_of_rows
from gateway.store.payouts.batching import BatchLimits, BatchQueue
from gateway.store.payouts.rows import restored_payout
from gateway.store.tables.columns import Record, reference_digest
from gateway.store.tables.core import payouts

_KEY = (payouts.c.account_id, payouts.c.reference_sha256)
# A second batch is for the time in which the first waits for the server; more only split batches.
_BATCHES = 2

Found = Sequence[Record]
"""The row, or none."""


class PayoutReader:
    """Every read of one payout from a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: BatchQueue[Key, Found] = BatchQueue(
            self._find, BatchLimits(count=_BATCHES, queue_s=database.checkout_s)
        )

    async def find(self, account_id: str, reference: str) -> Payout | None:
        """
        Return one as it stands after this was called.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        with failures_as_ours():
            key = account_id, reference_digest(reference)
            async with asyncio.timeout(self._database.whole_s):
                rows = await self._queue.ask(key)
        return restored_payout(rows[0]) if rows else None

    async def close(self) -> None:
        """Finish the reads that were asked for."""
        await self._queue.close()

    async def _find(self, keys: Sequence[Key]) -> Sequence[Found]:
        """Find all; where one key cannot be sent to the database, each is asked for alone."""
        wanted = list(dict.fromkeys(keys))
        async with self._database.reading() as connection:
            with faults_of_rows(of=len(keys)):
                asked = select(payouts).where(self._database.among(_KEY, wanted))
                rows = (await connection.execute(asked)).all()
        found = {(row.account_id, row.reference_sha256): [row] for row in rows}
        return [found.get(key, []) for key in keys]
