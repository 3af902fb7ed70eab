"""Payouts looked up at the same moment, by one statement; a look begins after it was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.payouts.payouts import Payout
from gateway.store.kernel.database import Database, Key, Undone, failures_as_ours, faults_of_rows
from gateway.store.payouts.batching import BatchLimits, BatchQueue
from gateway.store.payouts.rows import restored_payout
from gateway.store.tables.columns import Record, reference_digest
from gateway.store.tables.core import payouts

_KEY = (payouts.c.account_id, payouts.c.reference_sha256)
_LANES = 2

Found = Sequence[Record]
"""The row, or none."""


class PayoutReader:
    """The way of every look at one payout into a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batches: BatchQueue[Key, Found | None] = BatchQueue(
            self._look, BatchLimits(count=_LANES, queue_s=database.checkout_s)
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
                found = await self._batches.ask(key)
                if found is None:
                    [found] = await self._alone(key)
        return restored_payout(found[0]) if found else None

    async def close(self) -> None:
        """Finish the looks that were asked for."""
        await self._batches.close()

    async def _look(self, keys: Sequence[Key]) -> Sequence[Found | None]:
        """Look for all; None for whoever must ask alone, for one of these may be no key at all."""
        if len(keys) == 1:
            return await self._alone(keys[0])
        try:
            async with self._database.reading() as connection:
                with faults_of_rows():
                    rows = await self._rows(connection, list(dict.fromkeys(keys)))
        except Undone:
            return [None] * len(keys)
        found = {(row.account_id, row.reference_sha256): [row] for row in rows}
        return [found.get(key, []) for key in keys]

    async def _alone(self, key: Key) -> Sequence[Found]:
        async with self._database.reading() as connection:
            return [await self._rows(connection, [key])]

    async def _rows(self, connection: AsyncConnection, keys: Sequence[Key]) -> Found:
        asked = select(payouts).where(self._database.among(_KEY, keys))
        return (await connection.execute(asked)).all()
