"""Values in memory: for their time, within a bound."""

from __future__ import annotations

import asyncio

import pytest

from gateway.process.cache import MemoryCache
from tests.world.leaping import leaping

KIB = b"x" * 1024
BOUND = 8 * 1024


@pytest.fixture
def cache() -> MemoryCache:
    return MemoryCache(BOUND)


async def test_the_parts_of_a_value_are_read_individually(cache: MemoryCache):
    kept = await cache.put("k", [b"a", b"b"], 60)

    assert kept
    assert [await cache.get("k", part) for part in range(3)] == [b"a", b"b", None]
    assert await cache.get("other") is None


async def test_a_new_value_replaces_every_part_of_the_previous_one(cache: MemoryCache):
    await cache.put("k", [b"a", b"b", b"c"], 60)
    await cache.put("k", [b"d"], 60)

    assert [await cache.get("k", part) for part in range(2)] == [b"d", None]


@leaping
async def test_storing_a_new_value_restarts_its_lifetime(cache: MemoryCache):
    """The previous value's timer must not remove the new one."""
    await cache.put("k", [b"a"], 1)
    await cache.put("k", [b"b"], 60)
    await asyncio.sleep(59)

    assert await cache.get("k") == b"b"


@leaping
async def test_an_expired_value_frees_its_memory(cache: MemoryCache):
    await cache.put("k", [KIB], 60)
    await asyncio.sleep(60)

    assert await cache.get("k") is None
    assert await cache.size() == 0


async def test_the_least_recently_used_value_is_evicted_first(cache: MemoryCache):
    for key in "abc":
        await cache.put(key, [KIB, KIB], 60)
    await cache.get("a")
    await cache.put("d", [KIB, KIB], 60)

    assert [key for key in "abcd" if await cache.get(key)] == ["a", "c", "d"]
    assert await cache.size() <= BOUND


@leaping
async def test_expired_entries_go_before_the_least_recently_used(cache: MemoryCache):
    await cache.put("old", [KIB, KIB], 60)
    await cache.put("new", [KIB, KIB], 60)
    await cache.put("short", [KIB, KIB], 5)
    await asyncio.sleep(5)
    await cache.put("more", [KIB, KIB], 60)

    assert [key for key in ("old", "new", "more") if await cache.get(key)] == ["old", "new", "more"]


async def test_an_oversized_value_is_not_kept_and_removes_the_previous_one(cache: MemoryCache):
    await cache.put("other", [KIB], 60)
    await cache.put("k", [KIB], 60)

    kept = await cache.put("k", [KIB] * 9, 60)

    assert not kept
    assert await cache.get("k") is None
    assert await cache.get("other") == KIB


@pytest.mark.parametrize("ttl_s", [0, -1])
async def test_a_value_without_a_lifetime_is_not_kept(cache: MemoryCache, ttl_s: float):
    assert not await cache.put("k", [KIB], ttl_s)
    assert await cache.get("k") is None


async def test_the_size_of_a_value_includes_the_overhead_of_its_parts(cache: MemoryCache):
    assert not await cache.put("k", [b""] * 1000, 60)


async def test_dropping_a_value_frees_its_memory(cache: MemoryCache):
    await cache.put("k", [KIB], 60)
    await cache.drop("k")
    await cache.drop("k")

    assert await cache.get("k") is None
    assert await cache.size() == 0


async def test_closing_the_cache_removes_every_value(cache: MemoryCache):
    await cache.put("k", [KIB], 60)
    await cache.close()

    assert (await cache.get("k"), await cache.size()) == (None, 0)
