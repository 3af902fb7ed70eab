"""Batches that meet rows somebody else holds; a file is locked as a whole, a server row by row."""

import asyncio

import pytest
from sqlalchemy import Table, text

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.payouts import Payout, PayoutState
from gateway.store.engine import Store, open_store
from gateway.store.payouts.rows import payout_row
from gateway.store.tables.core import payouts
from tests.contract.stores.patience import SHORT, within
from tests.contract.stores.samples import attempt, change, payout

SENDING, PAID = PayoutState.SENDING, PayoutState.PAID


@pytest.fixture
def kind() -> str:
    """Only this one locks rows."""
    return "postgres"


async def test_a_row_that_another_holds_keeps_nobody_else_waiting(store: Store) -> None:
    """The batch passes it over, and its caller waits alone, as long as ever."""
    for name in ("order-1", "order-2"):
        await store.payouts.add(payout(name), attempt())

    async with store.database.writing() as other:
        await other.execute(text("UPDATE payouts SET review = false WHERE reference = 'order-1'"))
        waits = asyncio.create_task(store.payouts.record(change(SENDING, PAID)))
        with within(0.5):
            told = await store.payouts.record(change(SENDING, PAID, reference="order-2"))
        assert not waits.done()

    assert told is True
    assert await waits is True


async def test_a_reference_that_another_inserts_just_now_fails_nobody_else(store: Store) -> None:
    """A process that stands still amid its insert holds up one batch, for a statement at most."""
    short = open_store(store.url, SHORT)
    async with store.database.writing() as other:
        await store.database.add(other, *_row(payout()))
        with within(SHORT.whole_s + 0.5):
            told = await asyncio.gather(
                *(short.payouts.add(payout(f"order-{n}"), attempt()) for n in range(1, 4)),
                return_exceptions=True,
            )
        await other.rollback()
    await short.close()

    assert isinstance(told[0], StoreUnavailable)
    assert told[1:] == [None, None]


def _row(intended: Payout) -> tuple[Table, dict[str, object]]:
    return payouts, payout_row(intended)
