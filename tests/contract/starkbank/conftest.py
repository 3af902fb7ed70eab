"""Stark Bank's simulator, its own SDK in a thread, and our adapter, all for one workspace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
import pytest
import requests
import starkbank
from starkcore.utils import parse, rest

from gateway.banks.port.providers import ProviderAccount
from gateway.core.account import Environment
from gateway.core.money import Money
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.starkbank.adapter import StarkBankAdapter
from provider_adapters.starkbank.factory import StarkBankFactory
from provider_adapters.starkbank.requests import Secrets
from provider_adapters.testing.bank.control_client import BankControl
from provider_adapters.testing.bank.server import SimulatedBank
from provider_adapters.testing.starkbank import STARKBANK
from tests.world.banks.witness import Witness

HOST = "https://sandbox.api.starkbank.com"
OWN_KEY = "loja@example.com"


@dataclass(frozen=True)
class Asked:
    """A request as the bank received it, without what differs each time."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Workspace:
    """A workspace at the simulated bank, as the SDK and as our adapter know it."""

    bank: SimulatedBank
    control: BankControl
    account: ProviderAccount
    user: starkbank.Project
    adapter: StarkBankAdapter

    async def by_sdk(self, call: Callable[..., Any], *given: object, **named: object) -> Any:
        """Call the SDK, whose streams are read to their end, in a thread."""

        def run() -> Any:
            found = call(*given, user=self.user, **named)
            return list(found) if hasattr(found, "__next__") else found

        return await asyncio.to_thread(run)

    async def asked(self) -> list[Asked]:
        """Return what the bank was asked since the last time."""
        calls = (await self.control.get("calls"))["data"]
        await self.control.delete("calls")
        return [_asked(each) for each in calls]


@pytest.fixture
async def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workspace]:
    bank = SimulatedBank(
        dialect=STARKBANK,
        db_path=str(tmp_path / "bank.db"),
        port=0,
        control_port=0,
        settle_after_s=0.05,
    )
    await bank.start()
    _redirect(monkeypatch, bank.url)
    try:
        async with BankControl(bank.control_url) as control:
            opened = await _opened(bank, control)
            yield opened
            await opened.adapter.close()
    finally:
        await bank.close()


async def _opened(bank: SimulatedBank, control: BankControl) -> Workspace:
    body = {"name": "Loja", "tax_number": "11222333000181", "balance": Money(10_000_00)}
    made = await control.post("accounts", body=body)
    await control.post("accounts", made["id"], "keys", body={"type": "email", "key": OWN_KEY})
    secrets = msgspec.convert(made["credentials"], Secrets)
    context = AdapterContext(name="stark", environment=Environment.SANDBOX, observer=Witness())
    adapter = StarkBankFactory()({"base_url": bank.url}, context)
    await adapter.start()
    project = secrets.access_id.removeprefix("project/")
    return Workspace(
        bank=bank,
        control=control,
        account=ProviderAccount(
            account_id="5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f",
            provider_account=made["id"],
            secrets=secrets,
        ),
        user=starkbank.Project(environment="sandbox", id=project, private_key=secrets.private_key),
        adapter=adapter,
    )


def _redirect(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Have the SDK reach the simulator: its hosts are written into its source."""
    for name in ("get", "post", "patch", "put", "delete"):
        method = getattr(requests, name)

        def here(url: str, *, made: Callable[..., Any] = method, **more: object) -> Any:
            assert url.startswith(HOST)
            return made(address + url.removeprefix(HOST), **more)

        monkeypatch.setattr(rest, name, here)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(parse, "cache", {})


def _asked(call: Mapping[str, str]) -> Asked:
    parts = urlsplit(call["path"])
    return Asked(
        method=call["method"],
        path=unquote(parts.path).replace("//", "/"),
        query=dict(parse_qsl(parts.query)),
        body=json.loads(call["body"]) if call["body"] else None,
    )
