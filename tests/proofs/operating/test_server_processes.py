"""Server processes that share a port die, hang and are restarted: others do not notice."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator, Sequence

import pytest

from tests.proofs.operating.units import Unit, calling, end, site, units
from tests.servers.postgres import PostgresServer
from tests.world.extent import WHOLE
from tests.world.gateway.processes import GatewaySite
from tests.world.waiting import until

FEW, MANY = 20, 50
"""Answers to new connections that are waited for before, and after, something happens."""
ENDED = {"ServerDisconnectedError", "ClientOSError", "ClientConnectorError"}
"""What a caller is told whose connection ends with the process that had it."""


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> GatewaySite:
    return site(tmp_path_factory.mktemp("units"), run="apart")


@pytest.fixture(scope="module")
def shared(
    where: GatewaySite, postgres_server: PostgresServer, migrated_database: str
) -> Iterator[Sequence[Unit]]:
    name = f"units_{os.getpid()}"
    database = asyncio.run(postgres_server.create(name, template=migrated_database))
    with units(where, database) as running:
        yield running
    asyncio.run(postgres_server.drop(name))


@pytest.fixture
async def running(shared: Sequence[Unit]) -> Sequence[Unit]:
    for each in shared:
        await each.ready()
    return shared


@pytest.fixture
def a_second(whole: bool) -> int:
    """How many new connections there are a second."""
    return 100 if whole else 20


async def test_hanging_processes_are_restarted_and_delay_no_caller(
    running: Sequence[Unit], where: GatewaySite, a_second: int
):
    first, still, worker = running
    before = [each.pid for each in running]

    async with calling(where, a_second) as calls:
        await calls.more(FEW)
        for each in (still, worker):
            os.kill(each.pid, signal.SIGSTOP)
        await end(before[1])
        gone = calls.made
        await calls.more(MANY)
    await still.ready(before[1])
    await worker.ready(before[2])

    assert (first.pid, [each.silent for each in running]) == (before[0], [0, 1, 1])
    assert calls.since(gone) == []
    # A connection that the system had given to the stopped process ends with it.
    assert {what for _, what in calls.failed} <= ENDED


async def test_a_killed_process_is_restarted_while_the_other_serves(
    running: Sequence[Unit], where: GatewaySite, a_second: int, whole: bool
):
    first, other, _ = running
    before = first.pid
    for _ in range(10 if whole else 1):
        killed = other.pid
        async with calling(where, a_second) as calls:
            await calls.more(FEW)
            os.kill(killed, signal.SIGKILL)
            await end(killed)
            dead = calls.made
            await calls.more(MANY)
        assert calls.since(dead) == []
        await other.ready(killed)

    assert first.pid == before


async def test_a_hangup_reloads_every_process_without_a_restart(
    running: Sequence[Unit], where: GatewaySite, a_second: int
):
    before = [each.pid for each in running], {await each.digest() for each in running}
    text = where.config.read_text()
    where.config.write_text(text.replace("in_flight: 1000 ", "in_flight: 1001 "))

    async with calling(where, a_second) as calls:
        for each in running:
            os.kill(each.pid, signal.SIGHUP)

        async def is_reloaded() -> bool:
            return not {await each.digest() for each in running} & before[1]

        await until(is_reloaded)

    after = [each.pid for each in running], {await each.digest() for each in running}
    where.config.write_text(text)
    assert (after[0], len(after[1]), len(before[1])) == (before[0], 1, 1)
    assert calls.failed == []


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_a_rolling_restart_fails_almost_no_request(
    running: Sequence[Unit], where: GatewaySite, a_second: int
):
    """Only requests accepted but not read when a process closed are refused."""
    async with calling(where, a_second) as calls:
        for each in running:
            await calls.more(FEW)
            former, said = each.pid, len(each.states)
            os.kill(former, signal.SIGTERM)
            await each.ready(former)
            await until(
                lambda unit=each, said=said: unit.states[said:] == ["STOPPING=1", "READY=1"]
            )
        await calls.more(FEW)

    # On a machine that is not busy, these are two calls.
    assert len(calls.failed) <= max(2, len(running) * calls.most_under_way)
    assert {what for _, what in calls.failed} <= {"503", *ENDED}
