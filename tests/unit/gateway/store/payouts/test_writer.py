"""The one way of writes into a store: alone at first, together as soon as there are several."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.payouts import PayoutState
from gateway.store.engine import Store, open_store
from gateway.store.kernel.database import Limits
from gateway.store.payouts.batching import BatchLimits, BatchQueue
from gateway.store.payouts.steps import Intent, Write, WriteResult
from gateway.store.payouts.writer import PayoutWriter
from tests.contract.stores.samples import ACCOUNT, attempt, change, payout

SENDING, ACCEPTED, PAID = PayoutState.SENDING, PayoutState.ACCEPTED, PayoutState.PAID


async def test_one_who_comes_alone_is_told_after_his_commit(store: Store) -> None:
    commits = PayoutWriter(store.database)

    told = await commits.do(Intent(payout(), attempt()))

    assert told is True
    assert await store.payouts.find(ACCOUNT, "order-1") == payout()


async def test_each_of_a_batch_is_told_his_own(store: Store) -> None:
    commits = PayoutWriter(store.database)
    await commits.do(Intent(payout(), attempt()))

    told = await asyncio.gather(
        commits.do(Intent(payout(centavos=7), attempt())),
        commits.do(change(SENDING, ACCEPTED)),
        commits.do(Intent(payout("order-2"), attempt())),
        commits.do(change(SENDING, PAID, attempt=2)),
    )

    assert told == [payout(), True, True, False]


async def test_a_commit_that_does_not_end_is_left_by_whoever_waits(store: Store) -> None:
    """Whether it is done later nobody can tell; the wait in the queue counts too."""

    async def never(_writes: Sequence[Write]) -> Sequence[WriteResult | None]:
        await asyncio.Event().wait()
        return []

    commits = PayoutWriter(replace(store.database, whole_s=0.05))
    commits._batches = BatchQueue(never, BatchLimits(count=1))

    with pytest.raises(StoreUnavailable, match="TimeoutError"):
        await asyncio.wait_for(commits.do(change(SENDING, PAID)), 5)


async def test_a_queue_that_does_not_move_is_left(url: str, store: Store) -> None:
    """Behind a commit that takes seconds nobody waits longer than for a connection."""
    hasty = open_store(url, Limits(checkout_s=0.1, busy_s=1.0))

    async with store.database.writing():
        first = asyncio.create_task(hasty.payouts.add(payout(), attempt()))
        await asyncio.sleep(0.05)
        with pytest.raises(StoreUnavailable, match="TimeoutError"):
            await asyncio.wait_for(hasty.payouts.add(payout("order-2"), attempt()), 0.5)

    assert await first is None
    assert await store.payouts.find(ACCOUNT, "order-2") is None
    await hasty.close()
