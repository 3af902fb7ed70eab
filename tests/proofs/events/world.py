"""The environment of a campaign: bank, PostgreSQL, two servers, two workers, a partner."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from unittest import mock

import aiohttp
from sqlalchemy import select
from yarl import URL

from gateway.app.commands.context import AdminContext
from gateway.app.commands.store import opened_store
from gateway.app.kernel import Kernel
from gateway.app.services import Services
from gateway.app.store import open_store
from gateway.callbacks.cli import register_callback
from gateway.cli.configuration import settings_of
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.endpoints.model import EndpointSecret, EndpointState, NewEndpoint
from gateway.security.keys import load_keys
from gateway.store.tables.core import endpoints, payment_walks
from provider_adapters.testing.bank.control_client import BankControl
from tests.proofs.events.receiver import Receiver, open_receiver
from tests.proofs.events.tally import Tally
from tests.proofs.torture import postgres, processes, sites
from tests.proofs.torture.postgres import Postgres
from tests.proofs.torture.processes import Command
from tests.proofs.torture.sites import Account
from tests.world.waiting import until

_BANK = "sandbox"
_KINDS = ("idem", "dup")
"""Accounts whose bank knows our keys: at another, a payout that is unknown waits for a person."""


@dataclass(slots=True, kw_only=True)
class World:
    """
    What runs.

    Attributes:
        servers: By the public address of each.
        accounts: The partner's; each has a feed that is read.
        bank_ids: The bank's ids of them.
        offset_s: How far every clock but ours is ahead: trouble begins at noon.
    """

    chance: Random
    tally: Tally
    session: aiohttp.ClientSession
    postgres: Postgres
    bank: Command
    bank_file: Path
    control: BankControl
    receiver: Receiver
    servers: Mapping[str, Command]
    workers: Sequence[Command]
    accounts: Sequence[Account]
    bank_ids: Mapping[str, str]
    offset_s: int

    @property
    def payers(self) -> Sequence[Account]:
        """Accounts that payouts are ordered from."""
        return [each for each in self.accounts if each.kind in _KINDS]

    @property
    def store(self) -> str:
        return self.postgres.url()

    @property
    def processes(self) -> Sequence[Command]:
        return (*self.servers.values(), *self.workers)

    def today(self) -> date:
        return (datetime.now(UTC) + timedelta(seconds=self.offset_s)).date()

    def start(self, command: Command, failpoint: str = "") -> None:
        point = {processes.FAILPOINT: failpoint} if failpoint else {}
        command.start(**{processes.OFFSET: str(self.offset_s)}, **point)

    def serving(self) -> str:
        """Choose a server, if possible one that serves."""
        up = [base for base, command in self.servers.items() if command.serves]
        return self.chance.choice(up or [*self.servers])

    async def start_servers(self) -> None:
        """Start servers and workers; return when all of them are up."""
        for each in self.processes:
            self.start(each)
        for each in self.processes:
            assert await each.wait(self.session), each.said()

    async def move_clocks(self, by_s: int) -> None:
        """Kill every process but PostgreSQL, and start it again that much later."""
        for each in (*self.processes, self.bank):
            each.kill()
        self.offset_s += by_s
        self.receiver.offsets_s.append(self.offset_s)
        self.start(self.bank)
        assert await self.bank.wait(self.session), self.bank.said()
        await self.start_servers()


@asynccontextmanager
async def open_world(folder: Path, tally: Tally, walk_every_s: float) -> AsyncIterator[World]:
    """
    Make everything, and start it; whatever runs is ended with the block.

    The endpoint is active then, and every account is walked: from now on each change is told.
    """
    chance = Random(tally.seed)
    async with AsyncExitStack() as opened:
        server = await opened.enter_async_context(postgres.running())
        connector = aiohttp.TCPConnector(limit=0)
        session = await opened.enter_async_context(aiohttp.ClientSession(connector=connector))
        bank, _, control_url = processes.bank(folder, _BANK)
        opened.callback(bank.kill)
        offset_s = processes.to_noon_s()
        bank.start(**{processes.OFFSET: str(offset_s)})
        assert await bank.wait(session), bank.said()
        control = await opened.enter_async_context(BankControl(control_url))
        receiver = Receiver(chance=chance, answers=tally.answers, offsets_s=[offset_s])
        await opened.enter_async_context(open_receiver(receiver))
        config, target = folder / "config.yaml", sites.target_bank(_BANK, folder)
        sites.write_config(
            config,
            server.url(),
            target,
            providers=sites.providers(target, **sites.PATIENT),
            worker={"run": "apart", "nice": 0},
            events={"allow_local": True, "walk_every_s": walk_every_s},
        )
        accounts = await sites.furnish(config, control, "events", target)
        servers = [processes.gateway(folder, config, name) for name in ("one", "two")]
        receiver.secret, bank_ids = await wired(config, servers[0][1], receiver.url, accounts)
        for each in bank_ids.values():
            await control.post("accounts", each, "keys", body={"type": "evp"})  # of charges
        world = World(
            chance=chance,
            tally=tally,
            session=session,
            postgres=server,
            bank=bank,
            bank_file=folder / f"{_BANK}.db",
            control=control,
            receiver=receiver,
            servers={base: command for command, base in servers},
            workers=[processes.worker(folder, config, name) for name in ("three", "four")],
            accounts=accounts,
            bank_ids=bank_ids,
            offset_s=offset_s,
        )
        for each in world.processes:
            opened.callback(each.kill)
        await world.start_servers()
        await _until_told(world)
        yield world


async def wired(
    config: Path, callbacks: str, endpoint: str, accounts: Sequence[Account]
) -> tuple[str, Mapping[str, str]]:
    """
    Add an endpoint of the accounts' company, and have the bank call an address of ours.

    Returns:
        The secret of the endpoint, and the bank's ids of the accounts.
    """
    with mock.patch.dict(os.environ, {"PIXGATE_PORT": str(URL(callbacks).port)}):
        settings = settings_of(config)
    keys = load_keys(settings)
    async with opened_store(settings, migrate=False, keys=keys) as store:
        acting = AuditContext("campaign", lambda: datetime.now(UTC))
        kernel = Kernel(settings=settings, store=store, keys=keys, now=acting.now)
        office, bank_ids = AdminContext(kernel, acting), dict[str, str]()
        for each in accounts:
            await register_callback(office, each.id)
            account = await store.accounts.find(each.id)
            assert account is not None
            bank_ids[each.id] = account.provider_account
        made = await Services(kernel).endpoints.add(
            Staff(acting), NewEndpoint(company_id=account.company_id, url=endpoint)
        )
    assert isinstance(made, EndpointSecret)
    return made.secret, bank_ids


async def _until_told(world: World) -> None:
    """Wait until the endpoint is active and each account was walked once."""
    is_active = select(endpoints.c.id).where(endpoints.c.state == EndpointState.ACTIVE.value)
    walked = select(payment_walks.c.account_id)
    store = open_store(world.store)

    async def is_told() -> bool:
        rows = await store.database.rows(walked)
        names = {row.account_id for row in rows}
        active = await store.database.rows(is_active)
        return bool(active) and names >= {each.id for each in world.accounts}

    try:
        await until(is_told)
    finally:
        await store.close()
