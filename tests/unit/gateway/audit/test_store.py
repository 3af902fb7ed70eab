"""Appending events; the store contract suite tries the rest."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from sqlalchemy import select

from gateway.app.store import Store
from gateway.audit.model import AuditSearch
from gateway.audit.service import find_acts
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.windows import Paging
from gateway.store.tables.core import audit
from tests.world.stops import STOP, plant
from tests.world.stores.samples import event

BATCHES, SIZE = 20, 50


async def test_a_stop_is_stored_between_the_batches_of_a_flood(store: Store):
    """Unauthenticated events are written in batches, so that a stop waits for at most one batch."""

    async def flood() -> None:
        for _ in range(BATCHES):
            await store.audit.append(*[event("flood")] * SIZE)

    flooding = asyncio.create_task(flood())
    await asyncio.sleep(0)
    await plant(store, STOP, event("payouts.stopped"))
    stopped_in_time = not flooding.done()
    await flooding

    search = AuditSearch(paging=Paging(1, 1), action="payouts.stopped")
    (found,) = (await find_acts(store.database, search, EVERY_COMPANY)).items
    assert stopped_in_time
    assert found.number <= 2 + 2 * SIZE + 1
    assert await store.audit.verify() == 2 + BATCHES * SIZE + 1


async def test_equal_companies_are_stored_as_equal_texts(store: Store):
    for ids in ((), ("a",), ("b", "a"), ("a", "b")):
        await store.audit.append(replace(event(), companies=frozenset(ids)))

    rows = await store.database.rows(select(audit.c.companies).order_by(audit.c.number.desc()))
    assert [row.companies for row in rows[:4]] == ["a b", "a b", "a", ""]
