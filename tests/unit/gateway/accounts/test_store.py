"""An account's change and its audit event are one transaction."""

from dataclasses import replace

import pytest

from gateway.accounts.store import AT_BANK
from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from tests.world.stores.samples import ACCOUNT, account, event


async def test_a_change_is_rolled_back_when_its_event_cannot_be_stored(store: Store) -> None:
    closed = replace(account(), active=False)

    with pytest.raises(StoreUnavailable):
        await store.accounts.replace(closed, replace(event(), actor="\ud800"))

    assert await store.accounts.find(ACCOUNT) == account()


async def test_an_account_is_found_by_its_bank_account_with_an_index(store: Store) -> None:
    """However many accounts there are: banks send a callback for every payment."""
    asked = AT_BANK.params(provider="p", provider_account="a")
    compiled = asked.compile(
        store.database.reader.sync_engine, compile_kwargs={"literal_binds": True}
    )

    async with store.database.reading() as connection:
        plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")
        steps = [row.detail for row in plan if "accounts" in row.detail]

    index = "USING INDEX ix_accounts_provider_provider_account"
    assert steps == [f"SEARCH accounts {index} (provider=? AND provider_account=?)"]
