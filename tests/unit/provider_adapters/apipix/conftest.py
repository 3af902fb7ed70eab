"""Banks of API Pix as they are simulated, each with an adapter in front of it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.banks.port.providers import ProviderAccount
from gateway.core.account import Environment
from provider_adapters.apipix.adapter import ApiPixAdapter
from provider_adapters.apipix.factory import ApiPixFactory
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.testing.stages import ApiPixStage, EfiStage, InterStage
from tests.world.banks.witness import Witness


@dataclass(frozen=True)
class Standing:
    stage: ApiPixStage
    adapter: ApiPixAdapter
    told: Witness

    @property
    def account(self) -> ProviderAccount:
        return self.stage.accounts[0]

    async def calls(self) -> list[tuple[str, str]]:
        """Return what the bank was asked, tokens left out."""
        said = await self.stage.control.get("calls", query={"limit": "1000"})
        seen = [(each["method"], each["path"].partition("?")[0]) for each in said["data"]]
        return [each for each in seen if each[1] != self.stage.token_path]


@contextlib.asynccontextmanager
async def standing(make: type[ApiPixStage] = EfiStage, **more: object) -> AsyncIterator[Standing]:
    """Open both; ``more`` goes over the settings."""
    stage, told = make(), Witness()
    try:
        await stage.start()
        context = AdapterContext(name=make.profile, environment=Environment.SANDBOX, observer=told)
        adapter = ApiPixFactory()({**stage.settings(stage.address), **more}, context)
        await adapter.start()
        try:
            yield Standing(stage, adapter, told)
        finally:
            await adapter.close()
    finally:
        await stage.close()


@pytest.fixture
async def efi(tmp_path: Path) -> AsyncIterator[Standing]:
    """A bank with two accounts, and its adapter."""
    async with standing() as made:
        yield made


@pytest.fixture
async def inter() -> AsyncIterator[Standing]:
    """Inter, likewise."""
    async with standing(InterStage) as made:
        yield made
