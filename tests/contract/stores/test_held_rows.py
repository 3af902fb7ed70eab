"""Batches that meet locked rows; SQLite locks the whole file, PostgreSQL row by row."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import Table, text, update

from gateway.app.store import Store
from gateway.core.money import Money
from gateway.core.permissions import CredentialLimits
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.rows import payout_row
from gateway.store.tables.core import payouts
from tests.contract.stores.locks import until_blocked
from tests.world.store import open_store
from tests.world.stores.patience import SHORT
from tests.world.stores.samples import ACCOUNT, attempt, change, credential, event, of, payout

SENDING, PAID = PayoutState.SENDING, PayoutState.PAID


@pytest.fixture
def kind() -> str:
    """Only this one locks rows."""
    return "postgres"


async def test_a_locked_row_delays_no_other_payout(store: Store) -> None:
    """The batch skips it, and only its caller waits."""
    for name in ("order-1", "order-2"):
        await store.payouts.add(payout(name), attempt())

    async with store.database.writing() as other:
        await other.execute(text("UPDATE payouts SET review = false WHERE reference = 'order-1'"))
        waits = asyncio.create_task(store.payouts.record(change(SENDING, PAID)))
        told = await store.payouts.record(change(SENDING, PAID, reference="order-2"))
        assert not waits.done()

    assert told is True
    assert await waits is True


@pytest.mark.parametrize(
    ("moved", "done"), [("unknown", True), ("paid", False), ("not_sent", False)]
)
async def test_a_waiting_state_change_is_compared_with_the_row_it_finds(
    store: Store, moved: str, done: bool
) -> None:
    """Any of the states that the change may start from is accepted, also a newer one."""
    await store.payouts.add(payout(), attempt())
    step = of(change(SENDING, PAID), before=frozenset({SENDING, PayoutState.UNKNOWN}))

    async with store.database.writing() as other:
        await other.execute(update(payouts).values(state=moved))
        waits = asyncio.create_task(store.payouts.record(step))
        await until_blocked(store)
        assert not waits.done()

    assert await waits is done
    found = await store.payouts.find(ACCOUNT, "order-1")
    assert found is not None
    assert found.state == ("paid" if done else moved)


@pytest.mark.parametrize("others", [0, 3], ids=["alone", "in a batch"])
async def test_a_payout_above_its_limit_waits_for_a_rival_of_its_reference(
    store: Store, others: int
) -> None:
    """A refusal answered before it could be followed by money."""
    limits = CredentialLimits(per_payout=Money(1000))
    await store.credentials.add(replace(credential(), limits=limits), event())
    rival = replace(payout(), client_id="cli_zyxwvutsrqponmlkjihg")

    async with store.database.writing() as other:
        await store.database.add(other, *_row(rival))
        waits = [
            asyncio.create_task(
                store.payouts.add(payout(name), attempt(), limited=name == "order-1")
            )
            for name in ["order-1", *(f"other-{number}" for number in range(others))]
        ]
        await until_blocked(store)
        assert not waits[0].done()

    assert await asyncio.gather(*waits) == [rival, *[None] * others]


async def test_a_claim_above_its_limit_waits_for_its_locked_row(store: Store) -> None:
    """It fails if another process claims first, whatever its limit."""
    limits = CredentialLimits(per_payout=Money(1000))
    await store.credentials.add(replace(credential(), limits=limits), event())
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, PayoutState.NOT_SENT))

    async with store.database.writing() as other:
        await other.execute(text("UPDATE payouts SET state = 'sending', attempt = 2"))
        waits = asyncio.create_task(store.payouts.claim(payout(), attempt(2), limited=True))
        await until_blocked(store)
        assert not waits.done()

    assert await waits is False


async def test_a_concurrent_insert_of_a_reference_fails_no_other_payout(store: Store) -> None:
    """A process that stalls during its insert delays one batch, for at most one statement."""
    short = open_store(store.url, SHORT)
    async with store.database.writing() as other:
        await store.database.add(other, *_row(payout()))
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
