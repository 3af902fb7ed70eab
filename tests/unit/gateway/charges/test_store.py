"""Charges on record in one database; the contract suite asks both."""

from __future__ import annotations

import pytest

from gateway.app.store import Store
from gateway.charges.model import ChargeSearch
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Keyset
from tests.world.stores.charges import records
from tests.world.stores.samples import NOW


async def test_a_store_that_is_away_says_so(store: Store) -> None:
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("ALTER TABLE charges RENAME TO lost")

    with pytest.raises(StoreUnavailable):
        await records(store).search(ChargeSearch(page=Keyset(1)), EVERY_COMPANY, NOW)
