"""Workers that die, stall or share work: each payout is still followed up, by one of them."""

from __future__ import annotations

import signal
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import func, select

from gateway.app.store import Store, open_store
from gateway.store.tables.core import payouts, task_leases
from tests.proofs.operating.load import Load
from tests.proofs.torture import processes
from tests.proofs.torture.checks import OPEN
from tests.proofs.torture.gateway_client import GatewayClient, TortureWorld, torture_world_in
from tests.proofs.torture.processes import OFFSET, Command
from tests.proofs.torture.sites import LOSING, providers
from tests.servers.postgres import PostgresServer
from tests.world.extent import WHOLE
from tests.world.waiting import until

CLAIM_S = 61
"""A claim of a worker that was killed has ended; a clock that is so far ahead need not wait."""
FEW = 2
"""Of six, so that the circuit breaker stays closed."""
LOST = {"fault": "hang_after", "operation": "payout"}
"""The bank pays and does not answer: nobody but a worker finds out."""


@dataclass(slots=True)
class Crew:
    """A gateway that leaves its work to workers, and those."""

    world: TortureWorld
    partner: GatewayClient
    store: Store

    async def worker(self, name: str) -> Command:
        """Start one, and wait until it is ready."""
        command = processes.worker(self.partner.config.parent, self.partner.config, name)
        self.world.opened.callback(command.kill)
        await self.start(command)
        return command

    async def start(self, command: Command, ahead_s: int = 0) -> None:
        """Start one again, with a clock that is ahead."""
        command.start(**{OFFSET: str(self.world.offset_s + ahead_s)})
        assert await command.wait(self.world.session), command.said()

    async def lose(self, lots: int = 1, name: str = "lost") -> list[str]:
        """Make payouts that the bank carries out and does not answer; some others keep it open."""
        made = []
        for lot in range(lots):
            for number in range(6):
                if number < FEW:
                    await self.world.control.post("faults", body=LOST)
                made.append(f"{name}-{lot}-{number}")
                await self.partner.pay(made[-1])
        return made

    async def unsettled(self) -> int:
        """Count payouts possibly sent and not settled, without a query."""
        wanted = select(func.count()).select_from(payouts).where(payouts.c.state.in_(OPEN))
        async with self.store.database.reading() as connection:
            return (await connection.execute(wanted)).scalar_one()

    async def settled(self) -> None:
        """Wait until everything is at its end."""

        async def is_settled() -> bool:
            return not await self.unsettled()

        await until(is_settled)

    async def has_worker(self) -> bool:
        """Ask the gateway, which is ready whether it has one or not."""
        async with self.world.session.get(self.partner.command.answers) as said:
            assert said.status == 200
            document: dict[str, bool] = await said.json()
            return document["worker"]


@pytest.fixture
async def crew(
    tmp_path: Path, postgres_server: PostgresServer, migrated_database: str
) -> AsyncIterator[Crew]:
    name = f"workers_{uuid.uuid4().hex}"
    url = await postgres_server.create(name, template=migrated_database)
    store = open_store(url)
    async with torture_world_in(tmp_path) as world:
        banks = providers(world.target, **LOSING)
        # as much of a busy machine as those who wait for it
        worker = {"run": "apart", "nice": 0}
        partner = await world.gateway_client("site", store=url, worker=worker, providers=banks)
        await partner.start()
        yield Crew(world, partner, store)
    await store.close()
    await postgres_server.drop(name)


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_a_repeatedly_killed_worker_loses_no_payout(crew: Crew):
    worker = await crew.worker("worker")
    load = Load(crew.partner, [crew.partner.base])
    async with load.at(20):
        for number in range(10):
            await crew.lose(1, f"lost-{number}")
            worker.kill()
            await crew.start(worker)
    worker.kill()
    await crew.start(worker, CLAIM_S)

    await crew.settled()

    # what the fault hit may be of either kind, and its caller was told that nobody knows
    assert set(load.errors) <= {(502, "SVC.PIX.010")}
    for reference in load.payouts:
        assert await crew.partner.executions(reference) == [1050], reference


def looks_of(workers: Sequence[Command]) -> list[int]:
    return [each.log.read_text().count('"event":"provider_call"') for each in workers]


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_two_workers_do_not_query_a_payout_twice_at_once(crew: Crew):
    workers = [await crew.worker(name) for name in ("one", "two")]
    made = await crew.lose(20)

    await crew.settled()

    async with crew.store.database.reading() as connection:
        leased = (await connection.execute(select(task_leases.c.task))).scalars().all()
    assert len(leased) == len(set(leased)) > 3
    # lines are written out together, a moment after what they tell
    await until(lambda: sum(looks_of(workers)) >= len(made))
    # the first look finds it settled; if both looked, there would be two for each
    assert sum(looks_of(workers)) < 1.5 * len(made), looks_of(workers)
    for reference in made:
        assert await crew.partner.executions(reference) == [1050], reference


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_without_a_worker_requests_are_served_and_its_absence_is_reported(crew: Crew):
    """Until one starts."""

    async def has_none() -> bool:
        return not await crew.has_worker()

    await until(has_none)
    made = await crew.lose()
    worker = await crew.worker("worker")
    await crew.settled()
    await until(crew.has_worker)
    worker.kill(signal.SIGTERM)

    assert await worker.ended() == 0
    for reference in made:
        assert await crew.partner.executions(reference) == [1050], reference
