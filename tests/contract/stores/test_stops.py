"""Stops on each database: one process creates and lifts, another one sees it, oldest first."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from gateway.app.store import Store
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.errors import ServiceError
from gateway.core.windows import Paging
from gateway.stops.service import Stops, stops_in_force, stops_since
from tests.contract.stores.databases import both
from tests.world.stops import END, STOP, plant, sample
from tests.world.stores.samples import NOW


def service(store: Store) -> Stops:
    unused: Any = None
    return Stops(
        database=store.database,
        providers=(),
        accounts=unused,
        credentials=unused,
        new_id=unused,
        now=lambda: NOW,
    )


@both
async def test_another_process_sees_and_lifts_a_stop(store: Store, second: Store) -> None:
    """Lifting is audited only when a stop was lifted."""
    who, newer = Staff(AuditContext("cli:test", lambda: NOW)), NOW + timedelta(seconds=1)
    newest = sample(id="5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7b02", created_at=newer)
    await plant(store, newest)
    await plant(store, STOP)
    last = END - timedelta(microseconds=1)

    assert await stops_in_force(second.database, last) == [STOP, newest]
    assert await stops_in_force(second.database, END) == []
    assert (await service(second).page(who, Paging(page=1, limit=1))).items == [STOP]
    await service(second).lift(who, STOP.id)
    before = await store.audit.verify()
    with pytest.raises(ServiceError):
        await service(store).lift(who, STOP.id)

    assert await stops_in_force(store.database, NOW) == [newest]
    ended = await service(store).ended(who, Paging(page=1, limit=1))
    assert [(each.id, each.lifted_at, each.lifted_by) for each in ended.items] == [
        (STOP.id, NOW, "cli:test")
    ]
    assert await store.audit.verify() == before


@both
async def test_ended_stops_are_found_for_the_time_they_were_active(store: Store) -> None:
    """Held payouts ordered before a stop ended are not sent."""
    who = Staff(AuditContext("cli:test", lambda: NOW))
    longer = sample(id="5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7b02", ends_at=END + timedelta(seconds=1))
    lifted = sample(id="5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7b03", ends_at=END + timedelta(days=1))
    for each in (STOP, longer, lifted):
        await plant(store, each)
    await service(store).lift(who, lifted.id)

    async def ids(since: datetime) -> set[str]:
        return {each.id for each in await stops_since(store.database, since)}

    assert await ids(NOW - timedelta(microseconds=1)) == {STOP.id, longer.id, lifted.id}
    assert await ids(NOW) == {STOP.id, longer.id}
    assert await ids(END) == {longer.id}
