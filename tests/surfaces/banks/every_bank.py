"""Every simulated bank, one gateway that serves them all, and an account of ours at each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from gateway.app.services import Services
from gateway.banks.port.capabilities import Capabilities
from gateway.config.settings import Payouts
from gateway.config.upstream import Provider
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.money import Money
from provider_adapters.testing import simulators
from provider_adapters.testing.bank.control_client import BankControl
from provider_adapters.testing.bank.server import SimulatedBank
from provider_adapters.testing.commands.banks import address_of
from provider_adapters.testing.commands.demo_bank import account_request, open_account
from provider_adapters.testing.demo.ensure import Pair
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, now, opened, sandbox

PREFIX = "simulated-"
"""Before a bank's name: the demo has a provider ``sandbox`` of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtBank:
    """
    An account of ours at one bank.

    Attributes:
        bank_account: Its id there.
        keys: Pix keys that it has there: one random, one e-mail address.
    """

    office: BackofficeClient
    control: BankControl
    capabilities: Capabilities
    account: Account
    pair: Pair
    bank_account: str
    keys: tuple[str, str]

    async def partner(self, method: str, path: str, body: object = None) -> Answer:
        place = f"/baas/v1/account/{self.account.id}{path}"
        details: dict[str, Any] = {"document": body} if body else {}
        details["pair"] = self.pair
        return await self.office.world.ask(method, place, **details)

    async def person(self, method: str, path: str, body: object = None) -> Answer:
        place = f"/backoffice/v1/accounts/{self.account.id}{path}"
        return await self.office.ask(method, place, body)

    async def pay_newest_charge(self) -> None:
        """Let the newest charge be paid."""
        found = (await self.control.get("accounts", self.bank_account, "charges"))["data"]
        query = {"account": self.bank_account}
        await self.control.post("charges", found[-1]["reference"], "pay", body={}, query=query)


EveryBank = Mapping[str, AtBank]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def every_bank(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EveryBank]:
    """An account at each bank, by the bank's name."""
    folder = tmp_path_factory.mktemp("banks")
    async with AsyncExitStack() as stack:
        banks = {name: await _running(stack, name, folder) for name in simulators.names()}
        (folder / "gateway").mkdir()
        settings = sandbox(folder / "gateway")
        own = {PREFIX + name: _provider(name, bank) for name, bank in banks.items()}
        settings = msgspec.structs.replace(
            settings,
            providers={**settings.providers, **own},
            payouts=Payouts(approval_above=None),
        )
        world = await stack.enter_async_context(opened(settings))
        office = BackofficeClient(world)
        issued = await world.issue()
        pair = Pair(client_id=issued.credential.client_id, client_secret=issued.client_secret)
        yield {
            name: await _attached(stack, office, pair, name, bank.control_url)
            for name, bank in banks.items()
        }


async def _running(stack: AsyncExitStack, name: str, folder: Path) -> SimulatedBank:
    bank = SimulatedBank(
        dialect=simulators.find(name).dialect,
        db_path=str(folder / f"{name}.db"),
        port=0,
        control_port=0,
        settle_after_s=0.05,
        now=now,
    )
    await bank.start()
    stack.push_async_callback(bank.close)
    return bank


def _provider(name: str, bank: SimulatedBank) -> Provider:
    # What a bank allows in a second is not what is asked here.
    limits: dict[str, object] = {"account_limits": {"rates": {"*": None}}}
    # Nor when its calls stop: tests order failures, in any order of the tests.
    limits["breaker"] = {"consecutive": 1000, "calls": 1000}
    patience = {"connect_timeout_s": 60.0, "read_timeout_s": 61.0, "payout_timeout_s": 62.0}
    return msgspec.convert(
        simulators.find(name).provider(address_of(bank)) | patience | limits, Provider
    )


async def _attached(
    stack: AsyncExitStack, office: BackofficeClient, pair: Pair, name: str, control_url: str
) -> AtBank:
    """Open an account at a bank, with two keys, and one of the demo's company for it."""
    world: World = office.world
    control = await stack.enter_async_context(BankControl(control_url))
    made = await open_account(control, balance=Money(1_000_00))
    there = str(made["id"])
    random = await control.post("accounts", there, "keys", body={"type": "evp"})
    email = f"loja-{name}@example.com"
    await control.post("accounts", there, "keys", body={"type": "email", "key": email})
    company = world.demo["companies"]["main"]["id"]
    wanted = account_request(company, PREFIX + name, made)
    accounts = Services(world.office.kernel).accounts
    return AtBank(
        office=office,
        control=control,
        capabilities=world.gateway.connections[PREFIX + name].adapter.capabilities,
        account=await accounts.create(Staff(world.office.acting), *wanted),
        pair=pair,
        bank_account=there,
        keys=(random["key"], email),
    )
