"""Payouts under concurrency: within one process, and between two on one store."""

import asyncio
from dataclasses import replace

from gateway.app.store import Store
from gateway.payouts.model import PayoutState
from tests.contract.stores.databases import both
from tests.world.stores.samples import ACCOUNT, attempt, change, payout

pytestmark = both

SENDING, UNKNOWN, NOT_SENT = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.NOT_SENT
ACCEPTED, PAID, REJECTED = PayoutState.ACCEPTED, PayoutState.PAID, PayoutState.REJECTED


async def test_of_many_adds_of_one_reference_exactly_one_wins(store: Store, second: Store) -> None:
    """Rule R2: one atomic insert; each loser gets the winner's row."""
    nodes = [store, second] * 10
    tries = [replace(payout(), fingerprint=f"{each:064}") for each in range(len(nodes))]

    there = await asyncio.gather(
        *(node.payouts.add(each, attempt()) for node, each in zip(nodes, tries, strict=True))
    )

    (winner,) = [each for each, row in zip(tries, there, strict=True) if row is None]
    assert all(row == winner for row in there if row is not None)
    assert await store.payouts.find(ACCOUNT, "order-1") == winner
    assert await store.payouts.attempts(ACCOUNT, "order-1") == [attempt()]


async def test_losing_concurrent_inserts_are_not_reported_as_failures(
    store: Store, second: Store
) -> None:
    """The row has two unique keys, and either can be violated first."""
    for number in range(60):
        mine = payout(f"race-{number}")

        there = await asyncio.gather(
            *(node.payouts.add(mine, attempt()) for node in [store, second] * 4)
        )

        assert there.count(None) == 1


async def test_of_many_claims_exactly_one_wins(store: Store, second: Store) -> None:
    """Rule R9: a payout being sent is not taken over."""
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, NOT_SENT))
    unsent = replace(payout(), state=NOT_SENT)

    done = await asyncio.gather(
        *(node.payouts.claim(unsent, attempt(2)) for node in [store, second] * 10)
    )

    assert done.count(True) == 1
    assert len(await store.payouts.attempts(ACCOUNT, "order-1")) == 2


async def test_of_many_outcomes_exactly_one_is_written(store: Store, second: Store) -> None:
    """Rule R8: a final state is never overwritten."""
    await store.payouts.add(payout(), attempt())
    ends = [PAID, REJECTED] * 5

    done = await asyncio.gather(
        *(
            node.payouts.record(change(SENDING, end))
            for node, end in zip([store, second] * 5, ends, strict=True)
        )
    )

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert done.count(True) == 1
    assert found is not None
    assert found.state is ends[done.index(True)]


async def test_readers_do_not_wait_for_a_writer(store: Store, second: Store) -> None:
    await store.payouts.add(payout(), attempt())

    async with store.database.writing() as connection:
        await connection.exec_driver_sql("UPDATE payouts SET description = 'half done'")
        found = await asyncio.wait_for(second.payouts.find(ACCOUNT, "order-1"), timeout=60)
        await connection.rollback()

    assert found == payout()
