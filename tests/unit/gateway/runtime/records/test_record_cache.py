"""A bounded cache of records: believed for a while, loaded once for all who wait."""

import asyncio
import gc
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field

import pytest

from gateway.domain.backoffice.change_feed import ALWAYS, Belief
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.requests.calls import Ready
from gateway.runtime.records.packed_records import PackedRecords
from gateway.runtime.records.record_cache import Lifetimes, RecordCache
from tests.world.leaping import leaping

LONG = Lifetimes(found_s=60.0, absent_s=60.0, size=100)


class Texts:
    """How texts are packed."""

    def pack(self, record: str) -> bytes:
        return record.encode()

    def unpack(self, _key: str, packed: bytes) -> str:
        return packed.decode()


@dataclass
class Source:
    """A store of texts that can be slow, down, or told something else."""

    records: dict[str, str] = field(default_factory=lambda: {"a": "A", "b": "B"})
    loaded: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    is_down: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    async def load(self, key: str) -> str | None:
        self.loaded.append(key)
        await self.gate.wait()
        if self.is_down:
            raise StoreUnavailable
        return self.records.get(key)

    def begin(self, key: str) -> asyncio.Future[str | None]:
        return asyncio.ensure_future(self.load(key))

    def cache(self, lifetimes: Lifetimes = LONG, belief: Belief = ALWAYS) -> RecordCache[str]:
        return RecordCache(lifetimes, self.begin, self.seen.append, belief)

    def packing(self, ready: int, most: int, found_s: float = 60.0) -> RecordCache[str]:
        """Keep few ready, and more packed."""
        lifetimes = Lifetimes(found_s=found_s, absent_s=60.0, size=ready)
        packed = PackedRecords(Texts(), most)
        return RecordCache(lifetimes, self.begin, self.seen.append, ALWAYS, packed)


@pytest.fixture
def source() -> Source:
    return Source()


async def settled(*waiting: Awaitable[str | None]) -> list[str | BaseException | None]:
    return await asyncio.gather(*waiting, return_exceptions=True)


@leaping
async def test_a_record_is_loaded_once_and_believed(source: Source):
    cache = source.cache()

    found = [await cache.find("a"), await cache.find("a")]

    assert (found, source.loaded, source.seen) == (["A", "A"], ["a"], ["miss", "hit"])


@pytest.mark.parametrize(("key", "record"), [("a", "A"), ("x", None)])
@leaping
async def test_what_was_found_lately_need_not_be_waited_for(source: Source, key: str, record: str):
    cache = source.cache()
    before = cache.find(key)
    await before

    after = cache.find(key)

    assert not isinstance(before, Ready)
    assert isinstance(after, Ready)
    assert after.value == record


@leaping
async def test_the_absence_of_one_is_believed_too(source: Source):
    cache = source.cache()

    found = [await cache.find("x"), await cache.find("x")]

    assert (found, source.loaded, source.seen) == ([None, None], ["x"], ["miss", "negative"])


@leaping
async def test_a_record_is_believed_for_its_time_from_when_it_was_read(source: Source):
    """Being asked for does not make it younger: a revoked credential must die in time."""
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
async def test_its_time_runs_from_before_it_was_read(source: Source, key: str):
    """What changed during a slow read must not be believed for longer."""
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
async def test_a_read_slower_than_the_time_is_answered_and_not_kept(source: Source):
    cache = source.cache(Lifetimes(found_s=0.02, absent_s=0.02, size=9))
    source.gate.clear()
    reading = asyncio.ensure_future(cache.find("a"))
    await asyncio.sleep(0.05)
    source.gate.set()

    assert await reading == "A"
    assert cache._entries == {}


@leaping
async def test_absence_has_a_time_of_its_own(source: Source):
    cache = source.cache(Lifetimes(found_s=60.0, absent_s=0.05, size=9))
    await cache.find("a")
    await cache.find("x")
    source.records |= {"a": "new", "x": "X"}

    await asyncio.sleep(0.1)

    assert (await cache.find("a"), await cache.find("x")) == ("A", "X")


@leaping
async def test_what_is_forgotten_is_read_again(source: Source):
    cache = source.cache()
    await cache.find("a")
    source.records["a"] = "new"

    forgotten = [cache.forget("a"), cache.forget("never seen")]

    assert await cache.find("a") == "new"
    assert forgotten == [True, False]


@leaping
async def test_the_absence_of_one_is_forgotten_too(source: Source):
    """What was created a moment ago is there."""
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
async def test_what_was_read_before_it_was_forgotten_is_not_kept(source: Source):
    """A slow read may have looked before the change; who waited for it came before, too."""
    cache = source.cache()
    source.gate.clear()
    before = asyncio.ensure_future(cache.find("a"))
    await asyncio.sleep(0)
    assert cache.forget("a")
    source.records["a"] = "new"
    after = asyncio.ensure_future(cache.find("a"))
    await asyncio.sleep(0)

    source.gate.set()
    await settled(before, after)

    assert source.loaded == ["a", "a"]
    assert await cache.find("a") == "new"


@leaping
async def test_a_reading_from_before_the_change_is_not_kept_though_nobody_asks_again(
    source: Source,
):
    """No later reading is there yet that would replace it."""
    cache = source.cache()
    source.gate.clear()
    before = asyncio.ensure_future(cache.find("a"))
    await asyncio.sleep(0)
    cache.forget("a")
    source.gate.set()
    await settled(before)
    source.records["a"] = "new"

    found = await cache.find("a")

    assert (found, source.loaded) == ("new", ["a", "a"])


@leaping
async def test_a_renewed_record_was_read_from_then_on(source: Source):
    """Whatever is being read already; what is kept serves until the new one is there."""
    cache = source.cache()
    await cache.find("a")
    source.gate.clear()

    renewing = asyncio.ensure_future(cache.renew("a"))
    await asyncio.sleep(0)
    meanwhile = cache.find("a")
    source.records["a"] = "new"
    source.gate.set()

    assert isinstance(meanwhile, Ready)
    assert (await renewing, await cache.find("a")) == ("new", "new")
    assert source.loaded == ["a", "a"]


@pytest.mark.parametrize("key", ["a", "x"])
@leaping
async def test_it_knows_since_when_a_record_is_so(source: Source, key: str):
    cache = source.cache()
    before = time.monotonic()
    found = await cache.find(key)
    after = time.monotonic()

    since = cache.read_since(key, before)

    assert since is not None
    assert since.value == found
    assert cache.read_since(key, after) is cache.read_since("never seen", before) is None


@pytest.mark.parametrize("key", ["a", "x"])
@leaping
async def test_nothing_is_believed_beyond_the_belief(source: Source, key: str):
    """Who does not hear of changes reads the store each time, and keeps serving."""
    belief = Belief()
    cache = source.cache(belief=belief)

    for _ in range(3):
        await cache.find(key)
    belief.until = time.monotonic() + 60
    for _ in range(3):
        await cache.find(key)
    belief.until = time.monotonic()
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
async def test_a_record_outlives_the_store_that_gave_it(source: Source):
    """Known partners are served while the store is down, to the end of the record's time."""
    cache = source.cache()
    await cache.find("a")
    source.is_down = True

    assert await cache.find("a") == "A"
    with pytest.raises(StoreUnavailable):
        await cache.find("b")


@leaping
async def test_many_who_wait_cause_one_load(source: Source):
    cache = source.cache()
    source.gate.clear()
    waiting = [asyncio.ensure_future(cache.find("a")) for _ in range(50)]
    await asyncio.sleep(0)

    source.gate.set()

    assert await settled(*waiting) == ["A"] * 50
    assert source.loaded == ["a"]


@leaping
async def test_all_who_wait_are_told_of_a_failure(source: Source):
    cache = source.cache()
    source.gate.clear()
    source.is_down = True
    waiting = [asyncio.ensure_future(cache.find("a")) for _ in range(5)]
    await asyncio.sleep(0)

    source.gate.set()

    assert [type(each) for each in await settled(*waiting)] == [StoreUnavailable] * 5
    assert source.loaded == ["a"]


@leaping
async def test_one_that_gives_up_stops_nobody_else(source: Source):
    cache = source.cache()
    source.gate.clear()
    first, second = (asyncio.ensure_future(cache.find("a")) for _ in range(2))
    await asyncio.sleep(0)

    first.cancel()
    await asyncio.sleep(0)
    source.gate.set()

    assert await second == "A"
    assert first.cancelled()
    assert source.loaded == ["a"]


@leaping
async def test_a_failure_nobody_waits_for_any_more_is_no_noise(source: Source):
    noise: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, told: noise.append(told))
    cache = source.cache()
    source.gate.clear()
    source.is_down = True
    alone = asyncio.ensure_future(cache.find("a"))
    await asyncio.sleep(0)
    alone.cancel()
    await asyncio.sleep(0)

    source.gate.set()
    await asyncio.sleep(0.01)
    del alone
    gc.collect()

    assert (cache._loading, noise) == ({}, [])


@leaping
async def test_no_more_than_its_size_is_kept_the_oldest_go_first(source: Source):
    source.records = {str(number): str(number) for number in range(20)}
    cache = source.cache(Lifetimes(found_s=60.0, absent_s=60.0, size=5))

    for key in source.records:
        await cache.find(key)
    source.loaded.clear()
    for key in ("19", "15", "14"):
        await cache.find(key)

    assert source.loaded == ["14"]
    assert len(cache._entries) == 5


@leaping
async def test_ids_that_do_not_exist_do_not_fill_memory_either(source: Source):
    cache = source.cache(Lifetimes(found_s=60.0, absent_s=60.0, size=5))

    for number in range(200):
        await cache.find(f"guess-{number}")

    assert len(cache._entries) == 5


@leaping
async def test_two_caches_share_nothing(source: Source):
    other = Source({"a": "other"})
    one, two = source.cache(), other.cache()

    assert (await one.find("a"), await two.find("a")) == ("A", "other")


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


@pytest.mark.parametrize("way", ["its time is over", "renewed", "nothing is believed"])
@leaping
async def test_an_unchanged_record_keeps_what_was_made_of_it(source: Source, way: str):
    """Reading it again must not cost its credentials' being opened again."""
    belief, letter = Belief(ALWAYS.until), "A"  # two texts alike, and not the same object
    source.records["a"] = f"an {letter}"
    cache = source.cache(Lifetimes(found_s=0.05, absent_s=60.0, size=9), belief)
    before = await cache.find("a")
    source.records["a"] = f"an {letter}"

    if way == "its time is over":
        await asyncio.sleep(0.1)
    elif way == "renewed":
        await cache.renew("a")
    else:
        belief.until = time.monotonic()
    await cache.find("a")

    assert len(source.loaded) >= 2
    assert cache._entries["a"].value is before


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
