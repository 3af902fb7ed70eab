"""A bounded cache of records: believed for a while, loaded once for all who wait."""

import asyncio
import gc
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import pytest

from gateway.app.kept_records import Lifetimes, RecordCache
from gateway.core.calls import Ready
from gateway.core.change_feed import CacheValidity
from gateway.core.storage import StoreUnavailable
from tests.world.leaping import leaping
from tests.world.waiting import settle

LONG = Lifetimes(found_s=60.0, absent_s=60.0, size=100)
ALWAYS = CacheValidity(inf)


@dataclass
class Source:
    """A store of texts that can be slow, down, or changed."""

    records: dict[str, str] = field(default_factory=lambda: {"a": "A", "b": "B"})
    loaded: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    is_down: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    async def load(self, keys: Sequence[str]) -> Mapping[str, str]:
        self.loaded += keys
        await self.gate.wait()
        if self.is_down:
            raise StoreUnavailable
        return self.records

    def cache(
        self, lifetimes: Lifetimes = LONG, validity: CacheValidity = ALWAYS
    ) -> RecordCache[str]:
        return RecordCache(lifetimes, self.load, 60.0, self.seen.append, validity)


async def settled(*waiting: Awaitable[str | None]) -> list[str | BaseException | None]:
    return await asyncio.gather(*waiting, return_exceptions=True)


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.mark.parametrize(("key", "record"), [("a", "A"), ("x", None)])
@leaping
async def test_recently_read_records_are_returned_at_once(source: Source, key: str, record: str):
    cache = source.cache()
    before = cache.find(key)
    await before

    after = cache.find(key)

    assert not isinstance(before, Ready)
    assert isinstance(after, Ready)
    assert after.value == record


@leaping
async def test_absence_of_a_record_is_cached(source: Source):
    cache = source.cache()

    found = [await cache.find("x"), await cache.find("x")]

    assert (found, source.loaded, source.seen) == ([None, None], ["x"], ["miss", "negative"])


@leaping
async def test_a_record_is_valid_for_its_lifetime_from_its_read(source: Source):
    """Reads do not extend it: a revoked credential must expire in time."""
    cache = source.cache(Lifetimes(found_s=0.2, absent_s=60.0, size=9))
    await cache.find("a")
    source.records["a"] = "new"

    async with asyncio.timeout(5):
        while await cache.find("a") == "A":
            await asyncio.sleep(0.02)

    assert source.seen.count("hit") > 0
    assert source.loaded == ["a", "a"]


@pytest.mark.parametrize("key", ["a", "x"])
@leaping
async def test_the_lifetime_of_a_record_starts_before_its_read(source: Source, key: str):
    """A change during a slow read must not stay unseen for longer."""
    cache = source.cache(Lifetimes(found_s=0.2, absent_s=0.2, size=9))
    source.gate.clear()
    reading = asyncio.ensure_future(cache.find(key))
    await asyncio.sleep(0.15)
    source.gate.set()
    await reading

    await asyncio.sleep(0.1)
    await cache.find(key)

    assert source.loaded == [key, key]


@leaping
async def test_a_record_whose_read_outlasts_its_lifetime_is_not_cached(source: Source):
    cache = source.cache(Lifetimes(found_s=0.02, absent_s=0.02, size=9))
    source.gate.clear()
    reading = asyncio.ensure_future(cache.find("a"))
    await asyncio.sleep(0.05)
    source.gate.set()

    assert await reading == "A"
    assert cache._entries == {}


@leaping
async def test_absence_has_its_own_lifetime(source: Source):
    cache = source.cache(Lifetimes(found_s=60.0, absent_s=0.05, size=9))
    await cache.find("a")
    await cache.find("x")
    source.records |= {"a": "new", "x": "X"}

    await asyncio.sleep(0.1)

    assert (await cache.find("a"), await cache.find("x")) == ("A", "X")


@leaping
async def test_a_forgotten_record_is_read_again(source: Source):
    cache = source.cache()
    await cache.find("a")
    source.records["a"] = "new"

    forgotten = [cache.forget("a"), cache.forget("never seen")]

    assert await cache.find("a") == "new"
    assert forgotten == [True, False]


@leaping
async def test_cached_absence_can_be_dropped(source: Source):
    """A record just created is then found."""
    cache = source.cache()
    await cache.find("x")
    source.records["x"] = "X"

    cache.forget("x")

    assert await cache.find("x") == "X"


@leaping
async def test_everything_can_be_forgotten_at_once(source: Source):
    cache = source.cache()
    await settled(*map(cache.find, ("a", "b", "x")))
    source.records |= {"a": "new", "b": "new", "x": "new"}

    assert cache.forget_all() == 3
    assert await settled(*map(cache.find, ("a", "b", "x"))) == ["new"] * 3


@leaping
async def test_a_read_begun_before_the_drop_is_not_cached(source: Source):
    """The read may be older than the change; its waiting callers came before, too."""
    cache = source.cache()
    source.gate.clear()
    before = asyncio.ensure_future(cache.find("a"))
    await settle()
    assert cache.forget("a")
    source.records["a"] = "new"
    after = asyncio.ensure_future(cache.find("a"))
    await settle()

    source.gate.set()
    await settled(before, after)

    assert source.loaded == ["a", "a"]
    assert await cache.find("a") == "new"


@leaping
async def test_a_read_begun_before_a_change_is_not_cached_even_without_another_read(
    source: Source,
):
    """No later read replaces it."""
    cache = source.cache()
    source.gate.clear()
    before = asyncio.ensure_future(cache.find("a"))
    await settle()
    cache.forget("a")
    source.gate.set()
    await settled(before)
    source.records["a"] = "new"

    found = await cache.find("a")

    assert (found, source.loaded) == ("new", ["a", "a"])


@pytest.mark.parametrize("key", ["a", "x"])
@leaping
async def test_no_record_is_used_beyond_its_validity(source: Source, key: str):
    """A process without the change feed reads the store each time, and keeps serving."""
    validity = CacheValidity()
    cache = source.cache(validity=validity)

    for _ in range(3):
        await cache.find(key)
    validity.until = time.monotonic() + 60
    for _ in range(3):
        await cache.find(key)
    validity.until = time.monotonic()
    await cache.find(key)

    assert source.loaded == [key] * 4


@leaping
async def test_a_failing_load_is_not_kept(source: Source):
    cache = source.cache()
    source.is_down = True
    with pytest.raises(StoreUnavailable):
        await cache.find("a")

    source.is_down = False

    assert await cache.find("a") == "A"
    assert source.loaded == ["a", "a"]


@leaping
async def test_a_cached_record_is_served_while_the_store_is_down(source: Source):
    """Until the record's time ends."""
    cache = source.cache()
    await cache.find("a")
    source.is_down = True

    assert await cache.find("a") == "A"
    with pytest.raises(StoreUnavailable):
        await cache.find("b")


@leaping
async def test_concurrent_reads_of_one_key_load_once(source: Source):
    cache = source.cache()
    source.gate.clear()
    waiting = [asyncio.ensure_future(cache.find("a")) for _ in range(50)]
    await settle()

    source.gate.set()

    assert await settled(*waiting) == ["A"] * 50
    assert source.loaded == ["a"]


@leaping
async def test_a_failure_is_raised_to_every_waiting_caller(source: Source):
    cache = source.cache()
    source.gate.clear()
    source.is_down = True
    waiting = [asyncio.ensure_future(cache.find("a")) for _ in range(5)]
    await settle()

    source.gate.set()

    assert [type(each) for each in await settled(*waiting)] == [StoreUnavailable] * 5
    assert source.loaded == ["a"]


@leaping
async def test_a_cancelled_caller_does_not_affect_others(source: Source):
    cache = source.cache()
    source.gate.clear()
    first, second = (asyncio.ensure_future(cache.find("a")) for _ in range(2))
    await settle()

    first.cancel()
    await settle()
    source.gate.set()

    assert await second == "A"
    assert first.cancelled()
    assert source.loaded == ["a"]


@leaping
async def test_an_unawaited_failure_logs_nothing(source: Source):
    noise: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, told: noise.append(told))
    cache = source.cache()
    source.gate.clear()
    source.is_down = True
    alone = asyncio.ensure_future(cache.find("a"))
    await settle()
    alone.cancel()
    await settle()

    source.gate.set()
    await asyncio.sleep(0.01)
    del alone
    gc.collect()

    assert (cache._reads, noise) == ({}, [])


@leaping
async def test_the_least_recently_used_key_is_evicted_first(source: Source):
    """Invented ids do not evict a partner that keeps calling."""
    source.records = {str(number): str(number) for number in range(20)}
    cache = source.cache(Lifetimes(found_s=60.0, absent_s=60.0, size=5))
    await cache.find("0")
    for number in range(1, 20):
        await cache.find(str(number))
        await cache.find("0")

    for key in ("19", "16", "15"):
        await cache.find(key)

    assert source.loaded == [*source.records, "15"]
    assert len(cache._entries) == 5


@leaping
async def test_cached_absence_is_bounded(source: Source):
    cache = source.cache(Lifetimes(found_s=60.0, absent_s=60.0, size=5))

    for number in range(200):
        await cache.find(f"guess-{number}")

    assert len(cache._entries) == 5


@pytest.mark.parametrize("way", ["its time is over", "read again", "nothing is believed"])
@leaping
async def test_an_unchanged_record_keeps_its_derived_values(source: Source, way: str):
    """Reading it again must not open its credentials again."""
    validity, letter = CacheValidity(inf), "A"  # two texts alike, and not the same object
    source.records["a"] = f"an {letter}"
    cache = source.cache(Lifetimes(found_s=0.05, absent_s=60.0, size=9), validity)
    before = await cache.find("a")
    source.records["a"] = f"an {letter}"

    if way == "its time is over":
        await asyncio.sleep(0.1)
    elif way == "read again":
        await cache.find_since("a", time.monotonic())
    else:
        validity.until = time.monotonic()
    await cache.find("a")

    assert len(source.loaded) >= 2
    assert cache._entries["a"].value is before
