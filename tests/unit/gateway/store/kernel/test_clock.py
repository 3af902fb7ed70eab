"""The database's clock, and how far the process's own is ahead of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gateway.store.kernel.clock import DatabaseClock
from tests.world.store import open_store
from tests.world.stores.samples import NOW

HOURS = timedelta(hours=2)


@dataclass
class Machine:
    """The clocks of a process and of a server; a question takes its time there and back."""

    ahead: timedelta = timedelta()
    elapsed_s: float = 50.0
    trip_s: float = 0.0

    def now(self) -> datetime:
        return NOW + self.ahead + timedelta(seconds=self.elapsed_s)

    def monotonic(self) -> float:
        return self.elapsed_s

    async def server_time(self) -> datetime:
        self.elapsed_s += self.trip_s / 2
        at = NOW + timedelta(seconds=self.elapsed_s)
        self.elapsed_s += self.trip_s / 2
        return at

    async def clock(self, offset: timedelta = timedelta()) -> DatabaseClock:
        clock = DatabaseClock(self.now, self.monotonic, 5.0, offset)
        await clock.read(self.server_time)
        return clock


def right(machine: Machine) -> datetime:
    return NOW + timedelta(seconds=machine.elapsed_s)


def test_before_the_first_reading_the_process_clock_is_used():
    machine = Machine(HOURS)
    clock = DatabaseClock(machine.now, machine.monotonic, 5.0)

    assert (clock.now(), clock.ahead_s(), clock.is_in_step()) == (machine.now(), None, True)


@pytest.mark.parametrize(
    ("ahead_s", "in_step"), [(0, True), (5, True), (-5, True), (5.1, False), (-5.1, False)]
)
async def test_a_clock_within_the_tolerance_is_in_step(ahead_s: float, in_step: bool):
    machine = Machine(timedelta(seconds=ahead_s))

    clock = await machine.clock()

    assert (clock.ahead_s(), clock.is_in_step()) == (ahead_s, in_step)
    assert clock.now() == right(machine)


async def test_half_the_round_trip_is_subtracted():
    machine = Machine(trip_s=0.8)

    clock = await machine.clock()

    assert (clock.now(), clock.ahead_s()) == (right(machine), 0.0)


async def test_a_reading_that_took_too_long_is_not_used():
    """It is unknown which part of the round trip took the time."""
    machine = Machine(HOURS, trip_s=1.1)

    assert (await machine.clock()).ahead_s() is None


async def test_a_wall_clock_jump_has_no_effect_and_is_noticed_at_once():
    machine = Machine()
    clock = await machine.clock()
    seen = []

    for ahead in (HOURS, -HOURS, timedelta()):
        machine.ahead = ahead
        machine.elapsed_s += 10
        seen.append((clock.now() == right(machine), clock.ahead_s(), clock.is_in_step()))

    assert seen == [(True, 7200.0, False), (True, -7200.0, False), (True, 0.0, True)]


async def test_a_clock_with_a_configured_offset_is_in_step():
    """For tests; due work is selected by the same time."""
    machine = Machine(HOURS)

    clock = await machine.clock(HOURS)

    assert (clock.ahead_s(), clock.now()) == (0.0, machine.now())


async def test_the_clock_of_postgres_is_read_and_sqlite_has_none(postgres_url: str, tmp_path: Path):
    seen = []
    for url in (postgres_url, f"sqlite:///{tmp_path}/store.db"):
        store, machine = open_store(url), Machine(HOURS)
        machine.ahead += datetime.now(NOW.tzinfo) - NOW
        clock = DatabaseClock(machine.now, machine.monotonic, 600.0)
        await store.read_time(clock)
        await store.close()
        seen.append((clock.ahead_s() is not None, clock.is_in_step()))

    assert seen == [(True, False), (False, True)]
