"""Payouts behind movements in one database; the contract suite asks both."""

import pytest

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from tests.world.stores.samples import ACCOUNT


async def test_a_store_that_is_away_says_so(store: Store) -> None:
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("ALTER TABLE payouts RENAME TO lost")

    assert await store.payout_links.behind(ACCOUNT, [], []) == []
    with pytest.raises(StoreUnavailable):
        await store.payout_links.behind(ACCOUNT, ["E1"], [])
