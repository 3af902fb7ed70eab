"""Stops in the store: an act and its record are one transaction."""

from datetime import timedelta

import pytest

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.stops import Stop, StopScope
from gateway.store.engine import Store
from tests.world.stores.samples import NOW, event

STOP = Stop(
    id="1",
    scope=StopScope.PROVIDER,
    subject="sandbox",
    reason="r",
    created_by="maria",
    created_at=NOW,
    ends_at=NOW + timedelta(hours=1),
)


async def test_a_stop_that_cannot_be_recorded_does_not_hold(store: Store) -> None:
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("DELETE FROM audit_head")

    with pytest.raises(StoreUnavailable):
        await store.stops.add(STOP, event())

    assert await store.stops.active(NOW) == []


async def test_a_resumption_that_cannot_be_recorded_is_none(store: Store) -> None:
    await store.stops.add(STOP, event())
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("DELETE FROM audit_head")

    with pytest.raises(StoreUnavailable):
        await store.stops.lift("1", NOW, event())

    assert await store.stops.active(NOW) == [STOP]
