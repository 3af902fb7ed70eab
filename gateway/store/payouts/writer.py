"""
Writes of payouts that come at the same moment share one transaction.

A commit waits for the disk, and what comes meanwhile gathers for the next one. Everybody is
answered after the commit, with what the store would have told him alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gateway.domain.kernel.storage import LimitReached
from gateway.store.kernel.database import Database, Undone, failures_as_ours, faults_of_rows
from gateway.store.payouts.batching import BatchLimits, BatchQueue
from gateway.store.payouts.steps import Write, WriteResult, write_one
from gateway.store.payouts.writes import write_batch


class PayoutWriter:
    """The way of every intent, claim and step into a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batches: BatchQueue[Write, WriteResult | None] = BatchQueue(
            self._commit, BatchLimits(count=database.writers, queue_s=database.checkout_s)
        )

    async def do(self, write: Write) -> WriteResult:
        """
        Do one durably, together with others or alone, and say how it went.

        Raises:
            StoreUnavailable: it was not done, or its commit was asked for and nobody can tell.
            LimitReached: it is above a limit of its credential; it was not done.
        """
        with failures_as_ours():
            async with asyncio.timeout(self._database.whole_s):
                told = await self._batches.ask(write)
                if told is None:
                    told = await self._alone(write)
        if isinstance(told, LimitReached):
            raise told
        return told

    async def close(self) -> None:
        """Commit what was asked so far; refuse what is asked from now on."""
        await self._batches.close()

    async def _commit(self, writes: Sequence[Write]) -> Sequence[WriteResult | None]:
        """
        Commit a batch; None for whoever must go alone, of whom nothing is stored.

        A row that cannot be stored undoes all of its batch, and each goes alone then. After a
        commit that was asked for nobody does: it may have happened.
        """
        if len(writes) == 1:
            return [await self._alone(writes[0])]
        try:
            async with self._database.writing() as connection:
                with faults_of_rows():
                    return await write_batch(self._database, connection, writes)
        except Undone:
            return [None] * len(writes)

    async def _alone(self, write: Write) -> WriteResult:
        try:
            async with self._database.writing() as connection:
                return await write_one(self._database, connection, write)
        except LimitReached as above:
            # an answer, not a failure of whatever else is under way
            return above
