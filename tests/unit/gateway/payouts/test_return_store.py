"""Returns of payouts in one database; the contract suite asks both."""

from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.banks.port.providers import PixReturn
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.payouts.matching import MOST
from tests.world.stores.samples import ACCOUNT, NOW, attempt, payout


def back(number: int = 0) -> PixReturn:
    return PixReturn(id=f"D{number:031}", value=Money(1), at=NOW + timedelta(seconds=number))


async def test_no_payout_has_endless_returns(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    noted = await store.returns.note(payout(), [back(number) for number in range(MOST + 1)])

    assert noted == MOST
    assert len(await store.returns.of(ACCOUNT, "order-1")) == MOST
    assert await store.returns.note(payout(), [back(MOST)]) == 0


async def test_a_store_that_is_away_says_so(store: Store) -> None:
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("ALTER TABLE payout_returns RENAME TO lost")

    with pytest.raises(StoreUnavailable):
        await store.returns.of(ACCOUNT, "order-1")
