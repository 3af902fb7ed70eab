"""Records kept packed: unpacked when they are asked for, and never younger by it."""

import asyncio
import time

import pytest

from gateway.domain.requests.calls import Ready
from tests.unit.gateway.runtime.records.record_cache import Source, settled
from tests.world.leaping import leaping


@pytest.fixture
def source() -> Source:
    return Source()


@leaping
async def test_what_is_not_ready_any_more_is_unpacked(source: Source):
    source.records = {str(number): f"record {number}" for number in range(20)}
    cache = source.packing(ready=5, most=1000)
    for key in source.records:
        await cache.find(key)

    again = [cache.find(key) for key in source.records]

    assert all(isinstance(each, Ready) for each in again)
    assert await settled(*again) == list(source.records.values())
    assert (source.loaded, source.seen.count("hit")) == (list(source.records), 20)
    assert len(cache._entries) == 5


@leaping
async def test_a_packed_record_is_as_old_as_its_reading(source: Source):
    """Unpacking makes nothing younger."""
    cache = source.packing(ready=1, most=1000, found_s=0.2)
    before = time.monotonic()
    await settled(*map(cache.find, ("a", "b")))
    await asyncio.sleep(0.1)
    while "b" not in cache._entries:
        await cache.find("b")
    since = [cache.read_since("b", instant) for instant in (before, before + 0.05)]
    await asyncio.sleep(0.15)
    source.records["b"] = "new"

    assert await cache.find("b") == "new"
    assert [each is not None for each in since] == [True, False]


@pytest.mark.parametrize("ready", [1, 100])
@leaping
async def test_a_packed_record_is_forgotten_with_the_ready_one(source: Source, ready: int):
    cache = source.packing(ready=ready, most=1000)
    await settled(*map(cache.find, ("a", "b")))
    source.records |= {"a": "new", "b": "new"}

    assert [cache.forget("a"), cache.forget("a"), cache.forget_all()] == [True, False, 1]
    assert await settled(*map(cache.find, ("a", "b"))) == ["new", "new"]


@leaping
async def test_a_record_that_has_gone_is_not_unpacked(source: Source):
    """Its absence may be pushed out by others; what was packed before must not come back."""
    cache = source.packing(ready=1, most=1000)
    await cache.find("a")
    del source.records["a"]
    await cache.renew("a")
    await cache.find("b")

    assert await cache.find("a") is None


@leaping
async def test_ids_that_do_not_exist_push_no_packed_record_out(source: Source):
    cache = source.packing(ready=5, most=5)
    await cache.find("a")
    for number in range(200):
        await cache.find(f"guess-{number}")
    source.loaded.clear()

    assert await cache.find("a") == "A"
    assert source.loaded == []


@leaping
async def test_what_is_asked_for_often_becomes_ready(source: Source):
    cache = source.packing(ready=1, most=1000)
    await settled(*map(cache.find, ("a", "b")))

    for _ in range(40):
        await cache.find("b")

    assert "b" in cache._entries


@leaping
async def test_those_asked_for_once_push_out_nobody_who_is_asked_for_again(source: Source):
    source.records = {str(number): "record" for number in range(3000)}
    cache = source.packing(ready=1000, most=5000)
    keys = list(source.records)
    often, once = keys[:1000], keys[1000:]
    await settled(*map(cache.find, often))

    await settled(*map(cache.find, once))

    assert list(cache._entries) == often
    assert isinstance(cache.find(once[0]), Ready)


@leaping
async def test_it_knows_of_a_packed_record_too_since_when_it_is_so(source: Source):
    """A look that came late enough must not be made again because others are ready."""
    cache = source.packing(ready=1, most=1000)
    await cache.find("a")
    before = time.monotonic()
    await cache.find("b")

    since = cache.read_since("b", before)

    assert since is not None
    assert since.value == "B"
    assert cache.read_since("b", time.monotonic()) is None


@leaping
async def test_many_in_turn_do_not_push_out_each_other(source: Source):
    """Twice as many as are kept ready: half of them are found ready, instead of none."""
    source.records = {str(number): "record" for number in range(2000)}
    cache = source.packing(ready=1000, most=5000)
    for _ in range(10):
        for key in source.records:
            await cache.find(key)

    ready = 0
    for key in source.records:
        ready += key in cache._entries
        await cache.find(key)

    assert 700 <= ready <= 1000
