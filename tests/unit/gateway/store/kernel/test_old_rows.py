"""What is old is deleted a little at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from gateway.app.store import Store
from gateway.request_log.store import RequestRecords
from gateway.store.kernel import old_rows
from gateway.store.kernel.old_rows import delete_old
from gateway.store.tables.backoffice import requests
from tests.world.stores.request_log import logged_at
from tests.world.stores.samples import NOW

AT_ONCE = 10


async def minutes_left(store: Store) -> list[int]:
    async with store.database.reading() as connection:
        found = (await connection.execute(select(requests.c.at).order_by(requests.c.at))).scalars()
        return [(at - NOW) // timedelta(minutes=1) for at in found]


@pytest.mark.parametrize(
    ("old", "transactions"), [(0, 1), (9, 1), (10, 2), (11, 2), (35, 4)], ids=str
)
async def test_old_rows_are_deleted_in_small_transactions(
    store: Store, monkeypatch: pytest.MonkeyPatch, old: int, transactions: int
):
    """Deleting the rows of a whole day could exceed the statement timeout every time."""
    monkeypatch.setattr(old_rows, "AT_ONCE", AT_ONCE)
    await RequestRecords(store.database).add([logged_at(minutes) for minutes in range(-old, 3)])
    done: list[str] = []
    store.database.usage.on_usage = lambda work, _took_s: done.append(work)

    deleted = await delete_old(store.database, requests.c.at, NOW)

    assert done == ["write"] * transactions
    assert deleted == old
    assert await minutes_left(store) == [0, 1, 2]


async def test_rows_at_the_same_instant_are_deleted_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(old_rows, "AT_ONCE", AT_ONCE)
    await RequestRecords(store.database).add([logged_at(-1)] * 25 + [logged_at(-2), logged_at(0)])

    deleted = await delete_old(store.database, requests.c.at, NOW)

    assert deleted == 26
    assert await minutes_left(store) == [0]
