"""Look-ups of one turn share a statement; at most two run, and nobody waits beyond the bound."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from gateway.app.batched_reads import BatchedReads
from gateway.core.storage import StoreUnavailable
from tests.world.leaping import leaping
from tests.world.waiting import settle


@dataclass
class Store:
    """Upper-cases keys; an ``x`` is not there. Each statement waits for its gate."""

    statements: list[list[str]] = field(default_factory=list)
    gates: list[asyncio.Event] = field(default_factory=list)
    running: int = 0
    is_down: bool = False
    is_gated: bool = False

    async def find_all(self, keys: Sequence[str]) -> Mapping[str, str]:
        self.statements.append(list(keys))
        gate = asyncio.Event()
        self.gates.append(gate)
        if not self.is_gated:
            gate.set()
        self.running += 1
        try:
            await gate.wait()
        finally:
            self.running -= 1
        if self.is_down:
            raise StoreUnavailable
        return {key: key.upper() for key in keys if key != "x"}

    def reads(self) -> BatchedReads[str]:
        return BatchedReads(self.find_all, 60.0)


async def told(*waiting: Awaitable[str | None]) -> list[str | BaseException | None]:
    return await asyncio.gather(*waiting, return_exceptions=True)


async def test_keys_of_one_turn_are_read_by_one_statement():
    store = Store()
    reads = store.reads()

    found = await told(*map(reads.read, ("a", "x", "b", "a")))

    assert found == ["A", None, "B", "A"]
    assert store.statements == [["a", "x", "b"]]


async def test_while_two_statements_run_the_next_one_gathers():
    store = Store(is_gated=True)
    reads = store.reads()
    waiting = []
    for keys in ("ab", "c", "de", "f"):
        waiting += list(map(reads.read, keys))
        await settle()
    running = store.running, list(store.statements)

    store.gates[0].set()
    await settle()
    store.is_gated = False
    for gate in store.gates:
        gate.set()

    assert running == (2, [["a", "b"], ["c"]])
    assert await told(*waiting) == list("ABCDEF")
    assert store.statements == [["a", "b"], ["c"], ["d", "e", "f"]]


async def test_who_asks_after_a_statement_began_gets_another_one():
    """What it finds may be from before."""
    store = Store(is_gated=True)
    reads = store.reads()
    first = reads.read("a")
    await settle()
    second = reads.read("a")
    await settle()
    for gate in store.gates:
        gate.set()

    assert await told(first, second) == ["A", "A"]
    assert store.statements == [["a"], ["a"]]


async def test_very_many_are_read_in_pieces():
    store = Store()
    reads = store.reads()
    keys = [f"key-{number}" for number in range(1200)]

    found = await told(*map(reads.read, keys))

    assert found == [key.upper() for key in keys]
    assert [len(each) for each in store.statements] == [500, 500, 200]


async def test_a_failure_reaches_all_of_its_batch_and_nobody_else():
    store = Store(is_down=True)
    reads = store.reads()
    failed = await told(*map(reads.read, "abc"))
    store.is_down = False

    assert [type(each) for each in failed] == [StoreUnavailable] * 3
    assert await told(reads.read("a")) == ["A"]


async def test_a_row_that_cannot_be_read_fails_alone():
    """Such as one that a newer release has written."""

    async def strict(keys: Sequence[str]) -> Mapping[str, str]:
        if "bad" in keys:
            raise ValueError
        return {key: key.upper() for key in keys}

    reads = BatchedReads(strict, 60.0)

    found = await told(*map(reads.read, ("a", "bad", "b")))

    assert [found[0], found[2]] == ["A", "B"]
    assert isinstance(found[1], ValueError)


async def test_a_mistake_of_ours_hangs_nobody():
    async def broken(_keys: Sequence[str]) -> Mapping[str, str]:
        raise KeyError

    reads: BatchedReads[str] = BatchedReads(broken, 60.0)

    assert [type(each) for each in await told(*map(reads.read, "ab"))] == [KeyError] * 2


@leaping
async def test_a_silent_store_is_given_up_by_all_in_time():
    """By those too who waited for a place: the bound is that of the whole look-up."""
    store = Store(is_gated=True)
    reads = BatchedReads(store.find_all, 0.2, time.monotonic)
    began, waiting = time.monotonic(), []
    for key in "abcd":
        waiting.append(reads.read(key))
        await settle()

    failed = await told(*waiting)

    assert [type(each) for each in failed] == [StoreUnavailable] * 4
    assert time.monotonic() - began == pytest.approx(0.2, abs=0.01)
    assert store.running == 0


async def test_time_spent_waiting_for_a_place_counts():
    now = 0.0
    store = Store(is_gated=True)
    reads = BatchedReads(store.find_all, 0.5, lambda: now)
    first = [reads.read("a")]
    await settle()
    first.append(reads.read("b"))
    await settle()
    late = reads.read("c")
    now = 10.0
    for gate in store.gates:
        gate.set()

    with pytest.raises(StoreUnavailable):
        await late
    assert await told(*first) == ["A", "B"]


async def test_one_that_gives_up_stops_nobody_else():
    store = Store(is_gated=True)
    reads = store.reads()
    one, other = map(reads.read, "ab")
    await settle()
    one.cancel()
    store.gates[0].set()

    assert await other == "B"


async def test_nobody_waits_for_a_process_that_ends():
    store = Store(is_gated=True)
    reads = store.reads()
    waiting = []
    for key in "abc":
        waiting.append(reads.read(key))
        await settle()
    for task in list(reads._under_way):
        task.cancel()
    await settle()

    assert all(each.cancelled() for each in waiting)
