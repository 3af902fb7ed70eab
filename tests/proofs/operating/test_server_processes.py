"""Server processes that die or hang, and their supervisor: others do not notice."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proofs.operating.supervised import (
    Supervised,
    beside,
    calling,
    end,
    site,
    supervised,
)
from tests.servers.postgres import PostgresServer
from tests.world.extent import WHOLE
from tests.world.gateway.processes import GatewaySite
from tests.world.waiting import until

FEW, MANY = 20, 50
"""Answers to new connections that are waited for before, and after, something happens."""
ENDED = {"ServerDisconnectedError", "ClientOSError", "ClientConnectorError"}
"""What a caller is told whose connection ends with the process that had it."""


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer, migrated_database: str) -> Iterator[str]:
    name = f"supervised_{os.getpid()}"
    yield asyncio.run(postgres_server.create(name, template=migrated_database))
    asyncio.run(postgres_server.drop(name))


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> GatewaySite:
    return site(tmp_path_factory.mktemp("supervised"))


@pytest.fixture(scope="module")
def shared(where: GatewaySite, database: str) -> Iterator[Supervised]:
    """Two server processes that tests leave as they found them."""
    with supervised(where, database) as running:
        yield running


@pytest.fixture
async def running(shared: Supervised) -> Supervised:
    """All of them are ready."""
    await shared.ready()
    return shared


@pytest.fixture
def a_second(whole: bool) -> int:
    """How many new connections there are a second."""
    return 100 if whole else 20


async def test_a_process_that_stands_still_is_replaced_and_nobody_waits_longer(
    running: Supervised, a_second: int
):
    first, still = running.children

    async with calling(running.where, a_second) as calls:
        await calls.more(FEW)
        os.kill(still, signal.SIGSTOP)
        await until(lambda: still not in running.children)
        gone = calls.made
        await calls.more(MANY)
    await running.replaced(still)

    assert first in running.children
    assert calls.since(gone) == []
    # A connection that the system had given to the stopped process ends with it.
    assert {what for _, what in calls.failed} <= ENDED
    await running.has_said("was silent for 10 s: killed")


async def test_a_process_killed_again_and_again_is_started_again_and_the_other_serves_on(
    running: Supervised, a_second: int, whole: bool
):
    first = running.children[0]
    for _ in range(10 if whole else 1):
        killed = next(each for each in running.children if each != first)
        async with calling(running.where, a_second) as calls:
            await calls.more(FEW)
            os.kill(killed, signal.SIGKILL)
            await end(killed)
            dead = calls.made
            await calls.more(MANY)
        assert calls.since(dead) == []
        await running.replaced(killed)

    assert running.supervisor.poll() is None
    assert first in running.children


async def test_a_hangup_of_the_supervisor_reloads_every_process_and_ends_none(
    running: Supervised, a_second: int
):
    before, children = await running.digests(), running.children
    config = running.where.config
    text = config.read_text()
    config.write_text(text.replace("in_flight: 1000 ", "in_flight: 1001 "))

    async with calling(running.where, a_second) as calls:
        running.supervisor.send_signal(signal.SIGHUP)

        async def is_reloaded() -> bool:
            return not await running.digests() & before

        await until(is_reloaded)

    after = await running.digests()
    config.write_text(text)
    assert len(before) == len(after) == 1
    assert running.children == children
    await running.has_said("SIGHUP: reloaded limits.in_flight", times=2)
    assert calls.failed == []


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_restarts_leave_no_descriptor_no_thread_and_no_child(running: Supervised):
    before = running.footprint(running.supervisor.pid)
    first = running.children[0]

    for _ in range(50):
        old = running.children
        for each in old:
            os.kill(each, signal.SIGTERM)
        await running.replaced(*old)

    assert first not in running.children
    assert running.footprint(running.supervisor.pid) == before
    assert len(running.children) == 2


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_one_that_cannot_start_ends_no_other_and_starts_when_it_can(
    tmp_path: Path, database: str
):
    """Its operations port is taken. The gauge of the other one shows that it is missing."""
    place = site(tmp_path)
    taken = socket.create_server(("127.0.0.1", place.ports["PIXGATE_OPS_PORT"] + 1))
    with taken, supervised(place, database) as running:
        await running.ready(0)
        await until(lambda: running.said.count("server process 1 ended with status 1") >= 3)
        assert running.supervisor.poll() is None
        await running.shows(0, wanted=2, running=1)
        taken.close()
        await running.ready()

    pauses = [f"another one starts in {pause} s" for pause in ("0.2", "0.4", "0.8")]
    assert [running.said.count(each) for each in pauses] == [1, 1, 1]


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_a_second_supervisor_serves_the_same_public_port_and_ends_without_being_felt(
    running: Supervised, database: str, tmp_path: Path, a_second: int
):
    """
    Its other ports are its own: so one release replaces another on one host.

    What each process had accepted and not read in the instant in which it closed is refused.
    """
    place = beside(running.where, tmp_path)
    with supervised(place, database) as second:
        await second.ready()
        async with calling(place, a_second) as calls:
            await calls.more(FEW)
            second.supervisor.terminate()
            ended = await asyncio.to_thread(second.supervisor.wait)
            await calls.more(FEW)

    assert ended == 0
    # On a machine that is not busy, these are two calls.
    assert len(calls.failed) <= max(2, second.wanted * calls.most_under_way)
    assert {what for _, what in calls.failed} <= {"503", *ENDED}


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_server_processes_end_with_their_supervisor_and_leave_their_ports(
    tmp_path: Path, database: str
):
    """Even where it is killed and can tell nobody."""
    place = site(tmp_path)
    with supervised(place, database) as running:
        await running.ready()
        await running.shows(0, wanted=2, running=2)
        children = running.children

        running.supervisor.kill()

        for each in children:
            await end(each)
    with supervised(place, database) as again:
        await again.ready()
