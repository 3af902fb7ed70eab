"""A store that does not answer says so soon, and works again once the cause is gone."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import PayoutState
from tests.contract.stores.databases import both
from tests.world.store import open_store
from tests.world.stores.patience import SHORT
from tests.world.stores.samples import ACCOUNT, attempt, change, payout
from tests.world.waiting import settle

pytestmark = both

SENDING, ACCEPTED = PayoutState.SENDING, PayoutState.ACCEPTED
WRITER = Path(__file__).with_name("writer.py")


@pytest.fixture
async def short(store: Store) -> AsyncIterator[Store]:
    """The store again, with little patience."""
    opened = open_store(store.url, SHORT)
    yield opened
    await opened.close()


async def test_waiting_for_a_lock_of_another_process_is_limited(store: Store, short: Store) -> None:
    await store.payouts.add(payout(), attempt())

    async with store.database.writing() as other:
        await other.execute(text("UPDATE payouts SET description = 'mine'"))
        with pytest.raises(StoreUnavailable):
            await short.payouts.record(change(SENDING, ACCEPTED))
        await other.rollback()

    assert await short.payouts.find(ACCOUNT, "order-1") == payout()
    assert await short.payouts.record(change(SENDING, ACCEPTED))


async def test_waiting_for_a_free_connection_is_limited(short: Store) -> None:
    """So the queue of callers is bounded."""
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(1 if short.url.startswith("sqlite") else SHORT.pool_size):
            await stack.enter_async_context(short.database.writing())
        with pytest.raises(StoreUnavailable):
            await short.payouts.add(payout(), attempt())

    assert await short.payouts.add(payout(), attempt()) is None


async def test_a_cancelled_write_leaves_nothing_and_the_store_usable(short: Store) -> None:
    """It raises the cancellation, not StoreUnavailable."""
    inside = asyncio.Event()

    async def write() -> None:
        async with short.database.writing() as connection:
            await connection.execute(text("UPDATE accounts SET name = 'half done'"))
            inside.set()
            await asyncio.Event().wait()

    for _ in range(SHORT.pool_size + 1):
        inside.clear()
        task = asyncio.create_task(write())
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    found = await short.accounts.find(ACCOUNT)
    assert found is not None
    assert found.name != "half done"
    assert await short.payouts.add(payout(), attempt()) is None


@pytest.mark.parametrize("turns", [2**power for power in range(11)])
async def test_a_write_cancelled_at_any_point_is_complete_or_absent(
    short: Store, turns: int
) -> None:
    """It may still complete after its caller has gone; a later read waits for that."""
    task = asyncio.create_task(short.payouts.add(payout(), attempt()))
    await settle(turns)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    there = await short.payouts.add(payout(), attempt(2))

    tries = await short.payouts.attempts(ACCOUNT, "order-1")
    assert await short.payouts.find(ACCOUNT, "order-1") == payout()
    assert tries == [attempt(2) if there is None else attempt()]


async def test_no_acknowledged_write_is_lost_by_a_kill(store: Store) -> None:
    """The process is killed while writing; every row for which ``add`` returned is there."""
    writer = await asyncio.create_subprocess_exec(
        sys.executable, str(WRITER), store.url, stdout=asyncio.subprocess.PIPE, cwd=Path.cwd()
    )
    assert writer.stdout is not None
    told = [(await writer.stdout.readline()).decode().strip() for _ in range(20)]

    writer.kill()
    rest, _ = await writer.communicate()

    told += [line for line in rest.decode().split("\n")[:-1] if line]
    for reference in told:
        assert await store.payouts.find(ACCOUNT, reference) == payout(reference)
        assert await store.payouts.attempts(ACCOUNT, reference) == [attempt()]


async def test_a_driver_s_message_containing_a_row_is_hidden(store: Store) -> None:
    """The message quotes the row, which contains personal data."""
    nobody = "00000000-0000-4000-8000-000000000000"

    with pytest.raises(StoreUnavailable) as caught:
        await store.payouts.add(replace(payout(), account_id=nobody), attempt())

    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert nobody not in str(caught.value)
