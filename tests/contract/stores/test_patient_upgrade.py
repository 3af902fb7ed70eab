"""A migration during a long read, such as a backup, does not make others wait."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import pytest
from sqlalchemy import Connection, inspect, text

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from gateway.store import schema
from tests.world.stores.samples import attempt, payout
from tests.world.waiting import until

TRIES = 3
"""Payouts go on until the migration has waited so often."""


@pytest.fixture
def kind() -> str:
    """A file's one writer never waits for its readers."""
    return "postgres"


@asynccontextmanager
async def reading(store: Store, *tables: str) -> AsyncIterator[None]:
    """Read in one transaction, as a backup does, for the length of the block."""
    async with store.database.writing() as connection:
        for each in tables:
            await connection.execute(text(f"SELECT count(*) FROM {each}"))  # noqa: S608 - ours
        yield


def add(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE payouts ADD COLUMN note TEXT"))


def drop(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE payouts DROP COLUMN note"))


async def has_note(store: Store) -> bool:
    def look(connection: Connection) -> bool:
        return "note" in {each["name"] for each in inspect(connection).get_columns("payouts")}

    async with store.database.reading() as connection:
        return await connection.run_sync(look)


async def test_payouts_are_stored_while_a_migration_waits_for_a_long_read(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A payout that waited for the reader could wait for ever."""
    monkeypatch.setattr(schema, "_PAUSE_S", 0.1)
    numbers = count()
    with caplog.at_level(logging.WARNING, "gateway"):
        async with reading(store, "payouts"), asyncio.TaskGroup() as group:
            migrating = group.create_task(schema._migrate(store.url, add))
            while caplog.text.count("waits until nobody") < TRIES:
                await store.payouts.add(payout(f"order-{next(numbers)}"), attempt())
            waits = not migrating.done()
            migrating.cancel()

    assert waits
    assert "ALTER TABLE payouts ADD COLUMN note TEXT" in caplog.text
    assert not await has_note(store)


async def test_a_migration_is_done_once_the_reader_has_ended(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(schema, "_PAUSE_S", 0.1)
    async with asyncio.TaskGroup() as group:
        async with reading(store, "payouts"):
            migrating = group.create_task(schema._migrate(store.url, add))
            await until(lambda: "waits until nobody" in caplog.text)
        await migrating

    assert await has_note(store)
    await schema._migrate(store.url, drop)


async def test_a_migration_that_gives_up_has_changed_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_PAUSE_S", 0.1)
    monkeypatch.setattr(schema, "_LONGEST_S", 0.0)

    async with reading(store, "payouts"):
        with pytest.raises(StoreUnavailable, match="55P03"):
            await schema._migrate(store.url, add)

    assert not await has_note(store)
