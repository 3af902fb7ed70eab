"""Records of one turn share a statement; at most two run, and waiting is bounded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import pytest

from gateway.app.kept_records import Lifetimes, RecordCache
from gateway.core.change_feed import CacheValidity
from gateway.core.storage import StoreUnavailable
from tests.world.leaping import leaping
from tests.world.waiting import settle

LIFETIMES = Lifetimes(found_s=60.0, absent_s=60.0, size=2000)


@dataclass
class Letters:
    """Upper-cases keys; an ``x`` is missing. Each statement waits for its gate."""

    within_s: float = 60.0
    is_down: bool = False
    is_gated: bool = False
    broken: frozenset[str] = frozenset()
    statements: list[list[str]] = field(default_factory=list)
    gates: list[asyncio.Event] = field(default_factory=list)
    running: int = 0

    def __post_init__(self) -> None:
        self.cache: RecordCache[str] = RecordCache(
            LIFETIMES, self.find_all, self.within_s, lambda _result: None, CacheValidity(inf)
        )

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
        if self.broken & set(keys):
            raise ValueError
        return {key: key.upper() for key in keys if key != "x"}

    def find(self, key: str) -> asyncio.Future[str | None]:
        return asyncio.ensure_future(self.cache.find(key))

    async def found(self, keys: Sequence[str]) -> list[str | BaseException | None]:
        return await asyncio.gather(*map(self.find, keys), return_exceptions=True)


async def test_keys_requested_together_are_read_by_one_statement():
    letters = Letters()

    assert await letters.found(["a", "x", "b", "a"]) == ["A", None, "B", "A"]
    assert letters.statements == [["a", "x", "b"]]


async def test_keys_are_collected_while_two_statements_run():
    letters, waiting = Letters(is_gated=True), []
    for keys in ("ab", "c", "de", "f"):
        waiting += map(letters.find, keys)
        await settle()
    running = letters.running, list(letters.statements)

    letters.is_gated = False
    for gate in letters.gates:
        gate.set()

    assert running == (2, [["a", "b"], ["c"]])
    assert await asyncio.gather(*waiting) == list("ABCDEF")
    assert letters.statements == [["a", "b"], ["c"], ["d", "e", "f"]]


async def test_many_keys_are_read_in_batches():
    letters, keys = Letters(), [f"key-{number}" for number in range(1200)]

    assert await letters.found(keys) == [key.upper() for key in keys]
    assert [len(each) for each in letters.statements] == [500, 500, 200]


async def test_a_failure_reaches_only_its_own_batch():
    letters = Letters(is_down=True)
    failed = await letters.found("abc")
    letters.is_down = False

    assert [type(each) for each in failed] == [StoreUnavailable] * 3
    assert await letters.found("a") == ["A"]


async def test_an_unreadable_row_fails_alone():
    """Such as one that a newer release has written."""
    before, failed, after = await Letters(broken=frozenset("b")).found("abc")

    assert (before, type(failed), after) == ("A", ValueError, "C")


@leaping
async def test_a_silent_store_fails_every_waiting_look_up_in_time():
    """Including callers waiting for a place: the limit covers the whole look-up."""
    letters, waiting = Letters(within_s=0.2, is_gated=True), []
    began = time.monotonic()
    for key in "abcd":
        waiting.append(letters.find(key))
        await settle()

    failed = await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(each) for each in failed] == [StoreUnavailable] * 4
    assert time.monotonic() - began == pytest.approx(0.2, abs=0.01)
    assert letters.running == 0


async def test_no_caller_waits_for_a_stopping_process():
    letters, waiting = Letters(is_gated=True), []
    for key in "abc":
        waiting.append(letters.find(key))
        await settle()
    for task in list(letters.cache._under_way):
        task.cancel()
    await settle()

    assert all(each.cancelled() for each in waiting)
    assert letters.cache._reads == {}
