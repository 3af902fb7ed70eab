"""The register of live processes on both databases."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from gateway.app.store import Store, prepare
from gateway.core.account import Environment
from gateway.core.key_rotation import LiveProcess
from gateway.core.storage import LEASE
from tests.contract.stores.databases import both
from tests.world.store import open_store
from tests.world.stores.patience import LONG
from tests.world.stores.samples import now

pytestmark = both

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def process(name: str, key_id: str = "k1") -> LiveProcess:
    return LiveProcess(id=name, name=name, keys={"sealing": [key_id]})


async def names(store: Store, at: datetime) -> list[str]:
    return [each.name for each in await store.processes.alive(at)]


async def test_a_process_is_registered_until_it_ends_or_stops_renewing(store: Store):
    one, two = process("one"), process("two")
    for each in (two, one):
        assert await store.processes.register(each, NOW) == []

    assert [*await store.processes.alive(NOW)] == [one, two]
    await store.processes.renew(one, NOW + LEASE)
    assert await names(store, NOW + LEASE * 1.5) == ["one"]
    await store.processes.remove(one)
    assert await names(store, NOW) == ["two"]
    await store.processes.renew(one, NOW)
    assert await names(store, NOW) == ["one", "two"]


@pytest.mark.parametrize("moved", [LEASE * 1.5, -timedelta(hours=2)], ids=["over", "put back"])
async def test_a_dead_process_blocks_no_start(store: Store, moved: timedelta):
    await store.processes.register(process("gone"), NOW)

    refused = await store.processes.register(process("new", "k2"), NOW)
    assert "the sealing key k2 is not configured in gone" in refused[0]
    assert await names(store, NOW) == ["gone"]

    assert await store.processes.register(process("new", "k2"), NOW + moved) == []
    assert await names(store, NOW + moved) == ["new"]


async def test_of_processes_with_different_keys_starting_at_once_one_registers(store: Store):
    await prepare(store, Environment.SANDBOX, migrate=False, now=now)
    nodes = [open_store(store.url, LONG) for _ in range(6)]
    for each in nodes:  # open their connections, or they would not start at the same moment
        await names(each, NOW)

    refused = await asyncio.gather(
        *(each.processes.register(process(str(n), f"k{n}"), NOW) for n, each in enumerate(nodes))
    )

    assert len(await names(store, NOW)) == 1
    assert sum(not each for each in refused) == 1
    for each in nodes:
        await each.close()
