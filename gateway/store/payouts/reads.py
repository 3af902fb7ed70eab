"""
Payouts read by reference, and payouts like another one; reads of one moment share a statement.

A read begins after it was asked for: it sees every commit that was acknowledged before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from gateway.domain.bank.payout_orders import normal_destination
from gateway.domain.payouts.payouts import Payout, PayoutState
from gateway.store.kernel.database import Database, Key, failures_as_ours, faults_of_rows
from gateway.store.payouts.batching import BatchLimits, BatchQueue
from gateway.store.payouts.rows import restored_payout
from gateway.store.tables import columns
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


# Paying again after one of these duplicates nothing: no money moved.
_MOVED_NOTHING = (PayoutState.REJECTED.value, PayoutState.FAILED.value)


_CONTENT = (payouts.c.account_id, payouts.c.centavos, payouts.c.destination)


_MOVED = select(
    *_CONTENT, payouts.c.reference, payouts.c.reference_sha256, payouts.c.created_at
).where(payouts.c.state.not_in(_MOVED_NOTHING))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    """A search for payouts with this content but another reference, created since an instant."""

    content: tuple[str, int, str]
    digest: bytes
    since: datetime

    def matches(self, row: Record) -> bool:
        return row.reference_sha256 != self.digest and bool(row.created_at >= self.since)


class DuplicateSearch:
    """Every search for similar payouts in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: BatchQueue[_Query, Sequence[str]] = BatchQueue(
            self._find, BatchLimits(count=_BATCHES, queue_s=database.checkout_s)
        )

    async def similar(self, payout: Payout, since: datetime) -> Sequence[str]:
        """
        Return other references with the same amount and destination, oldest first.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        destination = columns.written(normal_destination(payout.destination))
        with failures_as_ours():
            query = _Query(
                content=(payout.account_id, payout.value.centavos, destination),
                digest=columns.reference_digest(payout.reference),
                since=since,
            )
            async with asyncio.timeout(self._database.whole_s):
                return await self._queue.ask(query)

    async def close(self) -> None:
        """Finish the searches that were asked for."""
        await self._queue.close()

    async def _find(self, queries: Sequence[_Query]) -> Sequence[Sequence[str]]:
        """Find all; where one cannot be sent to the database, each is asked for alone."""
        lately = _MOVED.where(payouts.c.created_at >= min(query.since for query in queries))
        contents = list(dict.fromkeys(query.content for query in queries))
        asked = self._database.each_of(lately, _CONTENT, contents)
        oldest_first = asked.order_by(asked.selected_columns.created_at)
        async with self._database.reading() as connection:
            with faults_of_rows(of=len(queries)):
                rows = (await connection.execute(oldest_first)).all()
        by_content: dict[tuple[str, int, str], list[Record]] = {}
        for row in rows:
            by_content.setdefault((row.account_id, row.centavos, row.destination), []).append(row)
        return [
            [row.reference for row in by_content.get(query.content, ()) if query.matches(row)]
            for query in queries
        ]
