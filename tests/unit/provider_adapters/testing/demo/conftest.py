"""The demo's parts: a real store, a real sandbox bank, a real file."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.app.build_identity import build_identity
from gateway.cli.context import AdminContext
from gateway.config.settings import Settings
from gateway.operations.identity.ports import IdentityContext
from gateway.security.keys import load_keys
from provider_adapters.testing.bank.control.client import BankControl
from provider_adapters.testing.demo.document import DemoFile, DemoUrls
from provider_adapters.testing.demo.ensure import DemoParts
from provider_adapters.testing.sandbox.dialect import SandboxBank
from tests.world import registers
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


@pytest.fixture
async def control(bank: SandboxBank) -> AsyncIterator[BankControl]:
    """Its control interface."""
    async with BankControl(f"http://127.0.0.1:{bank.control_port}") as opened:
        yield opened


@pytest.fixture
def records(office: Registers) -> AdminContext:
    """The store as the demo writes it."""
    return records_of(office)


@pytest.fixture
def parts(tmp_path: Path, office: Registers, control: BankControl) -> DemoParts:
    """Everything the demo is made with."""
    return DemoParts(
        office=records_of(office),
        people=people_of(office, tmp_path),
        bank=control,
        kept=DemoFile(tmp_path / "demo.json"),
        urls=DemoUrls(
            base_url="http://127.0.0.1:1",
            ops_url="http://127.0.0.1:2",
            sandbox_bank_url="http://127.0.0.1:3",
            sandbox_control_url="http://127.0.0.1:4",
        ),
    )


def people_of(office: Registers, folder: Path) -> IdentityContext:
    """Keep people in this store, with keys made in this folder."""
    settings = Settings(var=str(folder))
    kernel = replace(office.kernel, settings=settings, keys=load_keys(settings))
    return build_identity(kernel).context


def records_of(office: Registers) -> AdminContext:
    """Write into this store with these keys."""
    return AdminContext(office.kernel, office.acting)
