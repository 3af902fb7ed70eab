"""A company and the event that tells of it are one transaction."""

from dataclasses import replace

import pytest

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.store.engine import Store
from tests.world.stores.samples import company, event


async def test_no_event_no_company(store: Store) -> None:
    with pytest.raises(StoreUnavailable):
        await store.companies.add(company("new"), replace(event(), actor="\ud800"))

    assert await store.companies.find("new") is None
