"""The demo's parts: a real store, a real sandbox bank, a real file."""

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from gateway.app.commands.context import AdminContext
from gateway.security.keys import Keys
from provider_adapters.testing.demo.ensure import Demo, DemoUrls, made_demo
from provider_adapters.testing.sandbox import SandboxBank
from tests.world import registers
from tests.world.identity import LITTLE
from tests.world.registers import Registers


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Registers]:
    """Registers without an entry."""
    async with registers.opened(tmp_path) as opened:
        yield opened


@pytest.fixture
async def bank(tmp_path: Path, office: Registers) -> AsyncIterator[SandboxBank]:
    """A sandbox bank on free ports, with the clock of the store."""
    running = SandboxBank(
        db_path=str(tmp_path / "bank.db"), port=0, control_port=0, now=office.clock
    )
    await running.start()
    yield running
    await running.close()


Make = Callable[..., Awaitable[Demo]]


@pytest.fixture
def make(tmp_path: Path, office: Registers, bank: SandboxBank) -> Make:
    """Make the demo in this folder, of this store or another."""
    urls = DemoUrls(
        base_url="http://127.0.0.1:1",
        ops_url="http://127.0.0.1:2",
        sandbox_bank_url="http://127.0.0.1:3",
        sandbox_control_url=bank.control_url,
    )

    async def made(registers: Registers = office, keys: Keys | None = None, **changed: str) -> Demo:
        settings = replace(registers.kernel.settings, var=str(tmp_path))
        kernel = dataclasses.replace(registers.kernel, settings=settings)
        kernel = dataclasses.replace(kernel, keys=keys or kernel.keys)
        admin = AdminContext(kernel, registers.acting)
        return await made_demo(admin, {**urls, **changed}, LITTLE)  # type: ignore[typeddict-item]

    return made
