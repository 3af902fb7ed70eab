"""Limits that processes count together in Redis; and what holds while it is away."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis

from gateway.core.limits import Ask, Grant, Granted
from gateway.process.limits import ValkeyLimits
from gateway.process.redis_client import connect
from gateway.telemetry.ports import Event
from tests.servers.process import free_port
from tests.world.leaping import leaping
from tests.world.waiting import settle, until

SLOW = Ask("read/cli_1", step_s=1000.0, room_s=10_000.0)
"""Ten tokens; one comes back in a thousand seconds, in which no test takes part."""


class Process:
    """A process whose limits are at ``url``, which may be slow; what it counted, by result."""

    def __init__(self, url: str, **patience: float) -> None:
        self.counted: Counter[str] = Counter()
        self.remote = connect(url, 60.0)
        self.limits = ValkeyLimits(
            remote=self.remote,
            namespace="pixgate:v1:sandbox",
            secret=b"s" * 32,
            count=self.count,
            **{"patience_s": 60.0, **patience},
        )

    def count(self, event: Event, label: str) -> None:
        assert event is Event.SHARED_LIMITS
        self.counted[label] += 1

    async def take(self, *asks: Ask, pause: str = "") -> Granted | None:
        answer = asyncio.get_running_loop().create_future()
        self.limits.request(asks, answer.set_result, pause)
        return await answer

    async def took(self, *asks: Ask) -> list[int] | None:
        granted = await self.take(*asks)
        return None if granted is None else [each.took for each in granted.grants]

    async def close(self) -> None:
        await self.limits.close()
        await self.remote.aclose()


class Held:
    def __init__(self) -> None:
        self.answers: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    def pipeline(self, *, transaction: bool) -> Held:
        assert not transaction
        return self

    def execute_command(self, *_words: object) -> None: ...

    async def execute(self, *, raise_on_error: bool) -> list[Any]:
        assert not raise_on_error
        return await self.answers


@pytest.fixture
async def one(redis_url: str) -> AsyncIterator[Process]:
    process = Process(redis_url)
    yield process
    await process.close()


@pytest.fixture
async def other(redis_url: str) -> AsyncIterator[Process]:
    process = Process(redis_url)
    yield process
    await process.close()


async def test_processes_draw_from_one_bucket(one: Process, other: Process):
    full = await one.took(SLOW._replace(want=6))
    rest = await other.took(SLOW._replace(want=6), SLOW._replace(key="read/cli_2", want=2))
    empty = await one.take(SLOW)

    assert (full, rest) == ([6], [4, 2])
    assert empty is not None
    assert empty.grants[0] == Grant(0, pytest.approx(10_000, abs=5), pytest.approx(10, abs=0.1))


async def test_tokens_refill_at_the_rate_up_to_the_burst(one: Process):
    fast = Ask("fast", step_s=1e-6, room_s=3e-6, want=5)

    taken = [await one.took(fast) for _ in range(3)]

    assert taken == [[3]] * 3


async def test_returned_tokens_are_usable_and_debt_is_bounded(one: Process):
    owed = SLOW._replace(back=-100, debt_s=50.0)

    await one.took(SLOW._replace(want=10))
    returned = await one.took(SLOW._replace(want=10, back=4))
    one.limits.give_back([SLOW._replace(want=0, back=3)])
    given_back = await one.took(SLOW._replace(want=10))
    never_fuller = await one.took(SLOW._replace(key="b", want=20, back=50))
    in_debt = await one.take(owed._replace(key="c"))
    no_deeper = await one.take(owed._replace(key="c", debt_s=0.0))

    assert no_deeper is not None
    assert no_deeper.grants[0].full_s == pytest.approx(10_050, abs=5)
    assert (returned, given_back, never_fuller) == ([4], [3], [10])
    assert in_debt is not None
    assert in_debt.grants[0] == Grant(0, pytest.approx(10_050, abs=5), 100)


async def test_a_pause_applies_to_one_name_in_every_process(one: Process, other: Process):
    one.limits.pause("woovi/get_balance/a", 100.0)
    await one.took(SLOW)

    paused = [
        await other.take(*[SLOW] * asks, pause=name)
        for asks in (0, 1)
        for name in ("woovi/get_balance/a", "woovi/get_balance/b")
    ]

    assert [each and round(each.pause_s) for each in paused] == [100, 0, 100, 0]


async def test_failures_are_counted_in_a_sliding_window(one: Process, other: Process, raw: Redis):
    limits, keys = [[2, 4], [1]], ["203.0.113.7", "203.0.113.7/cli"]

    waits = [
        await process.limits.count_failure(keys, 1000.0, limits)
        for process in (one, other, one, other, one)
    ]
    alone = await one.limits.count_failure(keys[:1], 1000.0, limits[:1])
    kept = [await raw.llen(key) for key in await raw.keys("*failed*")]
    past = await one.limits.count_failure(keys, 1e-6, limits)

    exceeded = [[[wait > 0 for wait in key] for key in each or ()] for each in waits]
    assert exceeded == [
        [[False, False], [False]],
        [[False, False], [True]],
        [[True, False], [True]],
        [[True, False], [True]],
        [[True, True], [True]],
    ]
    assert alone == [[pytest.approx(1000, abs=5)] * 2]
    assert past == [[0, 0], [0]]
    assert sorted(kept) == [2, 5]


async def test_every_key_has_a_lifetime_and_reveals_nothing(one: Process, raw: Redis):
    """Addresses, client ids and bank account names are keyed digests."""
    one.limits.pause("woovi/secret-name", 100.0)
    await one.limits.count_failure(["203.0.113.7", "203.0.113.7/cli_1"], 60.0, [[1], [1]])
    await one.took(SLOW, SLOW._replace(key="person:maria"))
    await one.took(SLOW._replace(key="full", want=0))

    names = [key.decode() for key in await raw.keys("*")]

    assert len(names) == 5
    assert [await raw.pttl(name) > 0 for name in names] == [True] * 5
    assert all(name.startswith("pixgate:v1:sandbox:") for name in names)
    assert not any(word in str(names) for word in ("203.0", "cli_1", "maria", "secret", "woovi"))


async def test_simultaneous_requests_are_one_call(one: Process):
    await one.took(SLOW)
    await asyncio.gather(*(one.took(SLOW) for _ in range(8)))

    assert one.counted["answered"] == 2


async def test_an_absent_server_is_tried_rarely():
    process = Process(f"redis://127.0.0.1:{free_port()}/0")

    answers = [await process.took(SLOW) for _ in range(100)]
    process.limits.pause("a", 1.0)
    process.limits.give_back([SLOW])
    failed = await process.limits.count_failure(["a"], 60.0, [[1]])
    await process.close()

    assert answers == [None] * 100
    assert failed is None
    assert process.counted == {"failed": 1}
    assert process.limits.away


@leaping
async def test_failures_are_not_counted_behind_a_late_call_whose_answer_still_counts():
    """While one call is late, nothing else is sent: other requests end at once."""
    process = Process("redis://127.0.0.1:1/0", patience_s=0.02)
    process.limits.remote = server = Held()
    loop = asyncio.get_running_loop()
    began, given = loop.time(), list[Granted | None]()

    process.limits.request([SLOW], given.append)
    failure = await process.limits.count_failure(["a"], 60.0, [[1]])
    waited_s = loop.time() - began
    process.limits.request([SLOW], given.append)
    meanwhile = await process.limits.count_failure(["a"], 60.0, [[1]])
    server.answers.set_result([[1, 5_000_000, 3000]])
    await settle()
    await process.close()

    assert (failure, meanwhile, waited_s) == (None, None, pytest.approx(0.02, abs=0.001))
    assert given == [None, Granted([Grant(1, 5.0, 3.0)], 0.0)]
    assert process.counted == {"late": 1}


@leaping
async def test_a_stalled_process_does_not_mark_the_server_as_failed():
    """The answer arrived while the loop was blocked for a second, nine times."""
    process = Process("redis://127.0.0.1:1/0", patience_s=0.02)
    process.limits.remote = server = Held()
    loop, given = asyncio.get_running_loop(), list[Granted | None]()
    process.limits.request([SLOW], given.append)
    clock = time.monotonic.__self__

    async def stand_still() -> None:
        for _ in range(9):
            await asyncio.sleep(0.002)
            clock.now_s += 1.0
        server.answers.set_result([[1, 5_000_000, 3000]])

    began = loop.time()
    await stand_still()
    await settle()
    await process.close()

    assert loop.time() - began > 9
    assert given == [Granted([Grant(1, 5.0, 3.0)], 0.0)]
    assert process.counted == {"answered": 1}


async def test_a_recovered_server_is_probed_by_a_single_call(one: Process, raw: Redis):
    """A full server refuses writes, which counts as no answer."""
    before = (await raw.config_get("maxmemory"))["maxmemory"]
    await raw.config_set("maxmemory", 1)
    full = await one.took(SLOW)
    await raw.config_set("maxmemory", before)

    await until(lambda: not one.limits.away)
    first = asyncio.create_task(one.took(SLOW))
    await asyncio.sleep(0)
    meanwhile = await one.took(SLOW)

    assert (full, await first, meanwhile) == (None, [1], None)
    assert await one.took(SLOW) == [1]
    assert one.counted == {"failed": 1, "answered": 2}
