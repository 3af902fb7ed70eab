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


async def test_a_value_has_parts_that_are_read_one_by_one(cache: MemoryCache):
    kept = await cache.put("k", [b"a", b"b"], 60)

    assert kept
    assert [await cache.get("k", part) for part in range(3)] == [b"a", b"b", None]
    assert await cache.get("other") is None


async def test_a_value_replaces_the_one_before_with_all_its_parts(cache: MemoryCache):
    await cache.put("k", [b"a", b"b", b"c"], 60)
    await cache.put("k", [b"d"], 60)

    assert [await cache.get("k", part) for part in range(2)] == [b"d", None]


@leaping
async def test_its_time_begins_anew_with_every_value(cache: MemoryCache):
    """A timer of the value before must not take the new one."""
    await cache.put("k", [b"a"], 1)
    await cache.put("k", [b"b"], 60)
    await asyncio.sleep(59)

    assert await cache.get("k") == b"b"


@leaping
async def test_a_value_and_its_bytes_are_gone_when_its_time_is_over(cache: MemoryCache):
    await cache.put("k", [KIB], 60)
    await asyncio.sleep(60)

    assert await cache.get("k") is None
    assert await cache.size() == 0


async def test_the_least_recently_used_goes_first(cache: MemoryCache):
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


async def test_a_value_larger_than_the_bound_is_not_kept_nor_the_one_before(cache: MemoryCache):
    await cache.put("other", [KIB], 60)
    await cache.put("k", [KIB], 60)

    kept = await cache.put("k", [KIB] * 9, 60)

    assert not kept
    assert await cache.get("k") is None
    assert await cache.get("other") == KIB


@pytest.mark.parametrize("ttl_s", [0, -1])
async def test_a_value_without_time_is_not_kept(cache: MemoryCache, ttl_s: float):
    assert not await cache.put("k", [KIB], ttl_s)
    assert await cache.get("k") is None


async def test_many_small_parts_count_with_their_overhead(cache: MemoryCache):
    assert not await cache.put("k", [b""] * 1000, 60)


async def test_a_dropped_value_is_gone_and_its_bytes_with_it(cache: MemoryCache):
    await cache.put("k", [KIB], 60)
    await cache.drop("k")
    await cache.drop("k")

    assert await cache.get("k") is None
    assert await cache.size() == 0


async def test_nothing_is_left_behind_the_end(cache: MemoryCache):
    await cache.put("k", [KIB], 60)
    await cache.close()

    assert (await cache.get("k"), await cache.size()) == (None, 0)
