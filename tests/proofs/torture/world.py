"""The environment of a campaign: bank, PostgreSQL, network paths, gateways, a worker, accounts."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random

import aiohttp

from gateway.app.banks import connect
from gateway.app.kernel import SilentObserver
from gateway.cli.configuration import settings_of
from provider_adapters.testing import simulators
from provider_adapters.testing.bank.control_client import BankControl
from provider_adapters.testing.bank.dialect import Simulator
from tests.proofs.torture import postgres, processes, sites
from tests.proofs.torture.names import NAME, Names, names_in
from tests.proofs.torture.postgres import Postgres
from tests.proofs.torture.processes import Command
from tests.proofs.torture.road import Road, open_road
from tests.proofs.torture.sites import Site, TargetBank
from tests.proofs.torture.tally import Tally

HOLD_ABOVE = "400.00"
"""Below it most payouts are sent at once, above it all are held: each pays somebody new."""


@dataclass(slots=True, kw_only=True)
class World:
    """
    What runs.

    Attributes:
        offset_s: How far every clock but ours is ahead.
    """

    folder: Path
    chance: Random
    tally: Tally
    session: aiohttp.ClientSession
    postgres: Postgres
    bank: Command
    control: BankControl
    roads: list[Road]
    sites: list[Site]
    simulator: Simulator
    names: Names
    offset_s: int = 0

    @property
    def tells_returns(self) -> bool:
        """Whether gateways can learn that a payout came back."""
        return self.simulator.tells_returns

    @property
    def proves_absence(self) -> bool:
        """Whether a payout that the bank does not find is proven not to be there, after a while."""
        settings = settings_of(self.sites[0].config)
        name = next(iter(settings.providers))
        adapter = connect(name, settings, SilentObserver()).adapter
        return adapter.capabilities.absent_after is not None

    def passed(self, operations: Sequence[str]) -> Sequence[str]:
        has = {row.operation for row in self.simulator.dialect.rows}
        return [each for each in operations if each in has]

    @property
    def gateways(self) -> list[Command]:
        return [command for site in self.sites for command in site.commands.values()]

    @property
    def workers(self) -> list[Command]:
        return [command for site in self.sites for command in site.workers]

    def today(self) -> date:
        return (datetime.now(UTC) + timedelta(seconds=self.offset_s)).date()

    def start(self, command: Command, failpoint: str = "") -> None:
        environ = {processes.OFFSET: str(self.offset_s), "PIXGATE_HOLD_ABOVE": HOLD_ABOVE}
        if failpoint:
            environ[processes.FAILPOINT] = failpoint
        command.start(**environ)

    async def start_bank(self) -> None:
        self.start(self.bank)
        await self.bank.wait(self.session)

    def lose(self, share: float, store_share: float) -> None:
        """Begin or end to lose messages, to the bank and to the store."""
        for road in self.roads:
            road.loses = share if road.name == "bank" else store_share


@asynccontextmanager
async def open_world(tally: Tally, bank_name: str) -> AsyncIterator[World]:
    """Make everything, start bank and store, and end whatever runs when the block ends."""
    chance = Random(tally.seed)
    async with AsyncExitStack() as opened:
        name = opened.enter_context(
            tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True)
        )
        folder = Path(name)
        server = await opened.enter_async_context(postgres.running())
        connector = aiohttp.TCPConnector(limit=0)
        session = await opened.enter_async_context(aiohttp.ClientSession(connector=connector))
        bank, bank_port, control_url = processes.bank(folder, bank_name)
        opened.callback(bank.kill)
        roads = [
            await opened.enter_async_context(
                open_road(Road(name=what, target=port, chance=chance, lost=tally.faults))
            )
            for what, port in (("bank", bank_port), ("store", server.port))
        ]
        control = await opened.enter_async_context(BankControl(control_url))
        world = World(
            folder=folder,
            chance=chance,
            tally=tally,
            session=session,
            postgres=server,
            bank=bank,
            control=control,
            roads=roads,
            sites=[],
            simulator=simulators.find(bank_name),
            names=opened.enter_context(names_in(folder / "names")),
        )
        await world.start_bank()
        target = sites.target_bank(bank_name, folder).through(roads[0].port)
        for site in (_on_postgres(world, target), _on_sqlite(world, target)):
            for command in (*site.commands.values(), *site.workers):
                opened.callback(command.kill)
            site.accounts.extend(await sites.furnish(site.config, control, site.name, target))
            world.sites.append(site)
        yield world


def _on_postgres(world: World, bank: TargetBank) -> Site:
    """Describe two gateways on one server, and a worker."""
    store = world.postgres.url(world.roads[1].port)
    return _site(world, "postgres", ("one", "two"), store, bank)


def _on_sqlite(world: World, bank: TargetBank) -> Site:
    store = f"sqlite:///{world.folder / 'sqlite' / 'pixgate.db'}"
    return _site(world, "sqlite", ("three",), store, bank)


def _site(world: World, name: str, gateways: tuple[str, ...], store: str, bank: TargetBank) -> Site:
    folder = world.folder / name
    folder.mkdir()
    config = folder / "config.yaml"
    is_shared = name == "postgres"
    banks = sites.providers(bank)
    if world.names.can_hang:
        banks |= sites.named_provider(bank, NAME)
    # trouble keeps the machine busy, and a campaign waits for its worker
    worker = {"run": "apart" if is_shared else "inside", "nice": 0}
    sites.write_config(config, store, bank, worker=worker, providers=banks)
    made = [processes.gateway(folder, config, each) for each in gateways]
    workers = [processes.worker(folder, config, "worker")] if is_shared else []
    for command in (*(each for each, _ in made), *workers):
        command.within = world.names.command
    return Site(
        name=name,
        store=world.postgres.url() if is_shared else store,
        config=config,
        commands={base: command for command, base in made},
        accounts=[],
        workers=workers,
    )
