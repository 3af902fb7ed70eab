"""Values in Redis: shared, sealed, gone after their time; and what holds while it is away."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from gateway.process.cache import MemoryCache
from gateway.process.redis_client import connect
from gateway.process.shared import SharedCache
from gateway.security.sealing import Sealer
from gateway.telemetry.ports import Event
from tests.servers.process import free_port
from tests.servers.streams import listening
from tests.world.banks.witness import Clock
from tests.world.waiting import forever, until

CANARY = b"Maria Silva 52998224725"


class Process:
    """A process with the server at ``url``, or with none there."""

    def __init__(self, url: str, key: bytes = b"k" * 32, patience_s: float = 60.0) -> None:
        self.clock = Clock()
        self.failed: Counter[str] = Counter()
        self.memory = MemoryCache(2**20)
        self.cache = SharedCache(
            remote=connect(url, patience_s),
            namespace="pixgate:v1:sandbox",
            sealer=Sealer({"new": key}, "new"),
            memory=self.memory,
            count=self.count,
            clock=self.clock,
        )

    def count(self, event: Event, label: str) -> None:
        assert event is Event.CACHE_FAILURE
        self.failed[label] += 1


@pytest.fixture
async def one(redis_url: str) -> AsyncIterator[Process]:
    process = Process(redis_url)
    yield process
    await process.cache.close()


@pytest.fixture
async def other(redis_url: str) -> AsyncIterator[Process]:
    process = Process(redis_url)
    yield process
    await process.cache.close()


@pytest.fixture
async def alone() -> AsyncIterator[Process]:
    """A process whose server is unreachable."""
    process = Process(f"redis://127.0.0.1:{free_port()}/0")
    yield process
    await process.cache.close()


async def test_a_value_stored_by_one_process_is_read_by_another(one: Process, other: Process):
    kept = await one.cache.put("k", [b"head", CANARY], 60)

    assert kept
    assert [await other.cache.get("k", part) for part in range(3)] == [b"head", CANARY, None]
    assert await one.cache.size() == 0
    assert not one.failed


async def test_a_new_value_replaces_the_old_one_in_all_processes(one: Process, other: Process):
    await one.cache.put("k", [b"old"], 60)
    await other.cache.put("k", [b"new"], 60)

    assert await one.cache.get("k") == b"new"


async def test_entries_are_sealed_expire_and_have_our_prefix(one: Process, raw: Redis):
    await one.cache.put("k", [b"head", CANARY], 60)

    names = sorted(await raw.keys())
    stored = [await raw.get(name) for name in names]
    left = [await raw.pttl(name) for name in names]
    assert names == [b"pixgate:v1:sandbox:k/0", b"pixgate:v1:sandbox:k/1"]
    assert all(CANARY not in value and b"head" not in value for value in stored)
    assert all(0 < each <= 60_000 for each in left)


async def test_calls_beyond_the_connection_pool_wait_for_a_connection(one: Process):
    await one.cache.put("k", [b"a"], 60)

    found = await asyncio.gather(*(one.cache.get("k") for _ in range(100)))

    assert found == [b"a"] * 100
    assert not one.failed


async def test_a_value_expires_in_redis(one: Process):
    async def is_over() -> bool:
        return await one.cache.get("k") is None

    await one.cache.put("k", [b"a"], 0.05)

    await until(is_over)
    assert not one.failed


@pytest.mark.parametrize("what", ["moved", "changed", "foreign"])
async def test_a_value_not_sealed_for_its_key_is_ignored(one: Process, raw: Redis, what: str):
    """Write access to Redis does not allow showing one account the statement of another."""
    await one.cache.put("k", [CANARY], 60)
    await one.cache.put("other", [b"theirs"], 60)
    name = "pixgate:v1:sandbox:k/0"
    sealed = await raw.get(name)
    moved = await raw.get("pixgate:v1:sandbox:other/0")
    lies = {"moved": moved, "changed": sealed[:-1] + b"\0\0", "foreign": b"anything"}
    await raw.set(name, lies[what])

    assert await one.cache.get("k") is None
    assert one.failed == {"unsealed": 1}


async def test_a_value_cannot_be_read_with_another_encryption_key(one: Process, redis_url: str):
    await one.cache.put("k", [CANARY], 60)
    stranger = Process(redis_url, b"s" * 32)

    assert await stranger.cache.get("k") is None
    await stranger.cache.close()


async def test_a_dropped_value_is_gone_in_all_processes(one: Process, other: Process):
    await one.cache.put("k", [b"a", b"b"], 60)
    await other.cache.drop("k")

    assert await one.cache.get("k") is None


async def test_closing_keeps_entries_of_other_processes(one: Process, other: Process, raw: Redis):
    await raw.set("somebody's", b"own")
    await one.cache.put("k", [b"a"], 60)
    await one.cache.close()

    assert await other.cache.get("k") == b"a"
    assert await raw.get("somebody's") == b"own"


async def test_without_redis_the_cache_is_local_to_the_process(alone: Process):
    kept = await alone.cache.put("k", [b"a", b"b"], 60)

    assert kept
    assert [await alone.cache.get("k", part) for part in (0, 1)] == [b"a", b"b"]
    assert await alone.cache.size() > 0
    assert alone.failed == {"put": 1}


async def test_an_unreachable_redis_is_not_tried_again_for_a_while(alone: Process):
    for _ in range(3):
        assert await alone.cache.get("k") is None
    alone.clock.passes(5)
    await alone.cache.drop("k")

    assert alone.failed == {"get": 1, "drop": 1}


async def test_a_silent_server_is_waited_for_only_briefly():
    async def silent(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await forever()

    async with listening(silent) as port:
        process = Process(f"redis://127.0.0.1:{port}/0", patience_s=0.05)

        assert await process.cache.get("k") is None
        assert process.failed == {"get": 1}
        await process.cache.close()


async def test_a_value_stored_locally_during_an_outage_is_preferred_to_redis(
    one: Process, redis_url: str
):
    """The server still has the value from before the outage."""
    await one.cache.put("k", [b"old"], 60)
    one.cache._away_until = one.clock() + 5
    await one.cache.put("k", [b"new"], 60)
    one.clock.passes(6)

    before = await one.cache.get("k")
    await one.cache.put("k", [b"newest"], 60)

    assert (before, await one.cache.get("k")) == (b"new", b"newest")
    assert await one.cache.size() == 0
