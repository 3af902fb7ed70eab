"""Notes of looks: the contract suite knows how they are batched."""

import pytest

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from tests.unit.gateway.payouts.followups import LOOK
from tests.world.stores.samples import attempt, payout


async def test_a_store_that_is_closed_says_so(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.follow_ups.close()

    with pytest.raises(StoreUnavailable):
        await store.follow_ups.checked(LOOK)
