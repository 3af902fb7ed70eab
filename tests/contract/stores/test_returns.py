"""What came back of a payout is kept beside it, each return once."""

import asyncio
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.banks.port.providers import PixReturn
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import PayoutState
from tests.contract.stores.databases import both
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, attempt, change, payout

SENDING, PAID = PayoutState.SENDING, PayoutState.PAID


def back(number: int, centavos: int = 100) -> PixReturn:
    at = NOW + timedelta(seconds=number)
    return PixReturn(id=f"D{number:031}", value=Money(centavos), at=at)


async def test_returns_are_stored_once_and_read_oldest_first(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    noted = [
        await store.payouts.note_returns(payout(), some)
        for some in ([back(2)], [back(2), back(1)], [back(1), back(2)], [])
    ]

    assert noted == [1, 1, 0, 0]
    assert list(await store.payouts.returns(ACCOUNT, "order-1")) == [back(1), back(2)]


@both
async def test_a_return_reported_twice_at_once_is_stored_once(store: Store, second: Store) -> None:
    await store.payouts.add(payout(), attempt())

    noted = await asyncio.gather(
        *(node.payouts.note_returns(payout(), [back(1)]) for node in (store, second) * 4)
    )

    assert sum(noted) == 1
    assert list(await second.payouts.returns(ACCOUNT, "order-1")) == [back(1)]


@both
async def test_a_return_belongs_only_to_its_payout(store: Store) -> None:
    for row in (payout(), payout("order-2"), payout(account_id=SISTER)):
        await store.payouts.add(row, attempt())

    await store.payouts.note_returns(payout(), [back(1)])

    assert await store.payouts.returns(ACCOUNT, "order-2") == []
    assert await store.payouts.returns(SISTER, "order-1") == []


async def test_a_return_does_not_change_its_payout(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, PAID))
    before = await store.payouts.find(ACCOUNT, "order-1")

    await store.payouts.note_returns(payout(), [back(1, centavos=1050)])

    assert await store.payouts.find(ACCOUNT, "order-1") == before


async def test_a_return_without_its_payout_is_not_stored(store: Store) -> None:
    with pytest.raises(StoreUnavailable):
        await store.payouts.note_returns(payout(), [back(1)])
