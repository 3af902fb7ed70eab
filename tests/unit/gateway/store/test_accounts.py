"""A change of an account and the event that tells of it are one transaction."""

from dataclasses import replace

import pytest

from gateway.domain.stores import StoreUnavailable
from gateway.store.engine import Store
from tests.contract.stores.samples import ACCOUNT, account, event


async def test_no_event_no_change(store: Store) -> None:
    closed = replace(account(), active=False)

    with pytest.raises(StoreUnavailable):
        await store.accounts.replace(closed, replace(event(), actor="\ud800"))

    assert await store.accounts.find(ACCOUNT) == account()
