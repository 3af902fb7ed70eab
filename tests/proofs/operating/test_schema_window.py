"""
An upgrade and the way back, under load: two releases side by side on one store.

This tree is the old release. The new one is a copy with one more migration, which expands.
"""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from yarl import URL

from gateway.store import schema
from tests.proofs.operating.load import Load
from tests.proofs.operating.releases import OLD, Release, newer_release
from tests.proofs.torture import postgres, processes
from tests.proofs.torture.gateway_client import TortureWorld, torture_world_in
from tests.proofs.torture.processes import OFFSET, Command
from tests.world.extent import WHOLE

RATE = 20


@dataclass(slots=True)
class Fleet:
    """
    Processes of either release on one store, behind a load balancer.

    Attributes:
        load: The requests, and where they are sent.
    """

    world: TortureWorld
    config: Path
    load: Load
    _running: dict[str, Command] = field(default_factory=dict)

    async def add(self, release: Release, name: str) -> None:
        """Start a process and send it requests once it is ready."""
        command, base = processes.gateway(self.config.parent, self.config, name)
        command.root = release.root
        self.world.opened.callback(command.kill)
        command.start(**{OFFSET: str(self.world.offset_s)})
        assert await command.wait(self.world.session), command.said()
        self._running[base] = command
        self.load.rotation.append(base)

    async def drop(self) -> None:
        """Send the oldest process no more requests, and stop it."""
        base = self.load.rotation.pop(0)
        await self.load.answered()  # what the balancer has sent there may not have arrived yet
        command = self._running.pop(base)
        command.kill(signal.SIGTERM)
        assert await command.ended() == 0, command.said()


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_an_upgrade_and_a_downgrade_fail_no_request(tmp_path: Path):
    new = newer_release(tmp_path / "new")
    async with postgres.running() as server, torture_world_in(tmp_path) as world:
        database = {
            "url": server.url(),
            "migrate": "never",
            "timeout_s": 60.0,
            "auth_timeout_s": 60.0,
        }
        books = {"start": False, "control_port": URL(world.bank.answers).port}
        partner = await world.gateway_client(
            "site", store=server.url(), database=database, sandbox_bank=books
        )
        load = Load(partner, [])
        fleet = Fleet(world, partner.config, load)
        for name in ("old-1", "old-2"):
            await fleet.add(OLD, name)

        async with load.at(RATE):
            await new.does(partner.config, "db", "upgrade")
            # one that dies meanwhile starts again, and a slow script does no harm
            await fleet.drop()
            await fleet.add(OLD, "old-3")
            await OLD.does(partner.config, "db", "upgrade")
            assert await schema.current(server.url()) == new.schema
            for name in ("new-1", "new-2"):
                await fleet.add(new, name)
                await fleet.drop()
            for name in ("old-4", "old-5"):
                await fleet.add(OLD, name)
                await fleet.drop()
            await new.does(partner.config, "db", "downgrade", OLD.schema, "--yes")
            assert await schema.current(server.url()) == OLD.schema

        await _settled(load)
        said = await OLD.does(partner.config, "payouts", "verify", "--json")

    assert load.errors == {}
    assert len(load.payouts) > RATE
    assert json.loads(said) == []


async def _settled(load: Load) -> None:
    """Each was executed once."""
    for reference in load.payouts:
        assert await load.partner.executions(reference) == [1050], reference
