"""``pixgate demo --bank``: an account at a simulated bank becomes one of ours."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.domain.accounts.accounts import Environment
from provider_adapters.kit.references import txids
from provider_adapters.testing import simulators
from provider_adapters.testing.bank.server import SimulatedBank
from provider_adapters.testing.commands.banks import BankFolder, address_of
from provider_adapters.testing.commands.demo_bank import CHARGE
from tests.unit.provider_adapters.testing.commands.provider_block import removed
from tests.world.shell import Shell

pytestmark = pytest.mark.slow


@contextmanager
def running(name: str, shell: Shell) -> Iterator[SimulatedBank]:
    """Run a simulated bank in a thread of its own, told of in the shell's folder."""
    folder = BankFolder(shell.folder / "banks")
    folder.path.mkdir()
    bank = SimulatedBank(
        dialect=simulators.find(name).dialect,
        db_path=folder.database(name),
        port=0,
        control_port=0,
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(bank.start(), loop).result()
        folder.tell(name, address_of(bank))
        yield bank
        asyncio.run_coroutine_threadsafe(bank.close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def own_config(shell: Shell) -> None:
    """A configuration that the test may change."""
    file = shell.folder.parent / "config.yaml"
    file.write_text(Path(shell.environ["PIXGATE_CONFIG"]).read_text())
    shell.environ["PIXGATE_CONFIG"] = str(file)


@pytest.mark.usefixtures("own_config")
@pytest.mark.parametrize("name", simulators.names())
def test_the_provider_that_is_printed_is_all_that_the_configuration_lacks(shell: Shell, name: str):
    """It is written into the file once, where nothing else changes."""
    file = Path(shell.environ["PIXGATE_CONFIG"])
    before = file.read_text()

    with running(name, shell) as bank:
        printed = shell.fails("demo", "--bank", name).partition("\n\n")[2]
        made = shell.reads("demo", "--bank", name, "--configure")
        written = file.read_text()
        again = shell.reads("demo", "--bank", name, "--configure")
        assert_ready(shell, made)

    assert yaml.safe_load(printed)["providers"].items() <= providers(written).items()
    assert file.read_text() == written
    assert removed(before, written) == []
    assert (made["bank"], made["control_url"]) == (name, bank.control_url)
    assert (again["provider"], again["bank"]) == (made["provider"], name)
    assert again["account_id"] != made["account_id"]


def providers(text: str) -> dict[str, object]:
    """Read the providers of a configuration file."""
    found: dict[str, object] = yaml.safe_load(text)["providers"]
    return found


def assert_ready(shell: Shell, made: Any) -> None:
    """Demand that the account of a demo can be used, and gets callbacks where the bank can."""
    [account] = [
        each for each in shell.reads("account", "list") if each["id"] == made["account_id"]
    ]
    assert (account["active"], account["verified"]) == (True, True)
    assert account["provider_account"] == made["bank_account"]
    assert (
        shell.reads("callbacks", "list", "--account", made["account_id"]) or not made["callbacks"]
    )


def test_the_charge_has_a_reference_that_every_bank_knows_it_by():
    assert txids(Environment.SANDBOX, "any account", CHARGE)[0] == CHARGE


def test_a_running_bank_is_controlled_by_its_name(shell: Shell):
    name, other, *_ = simulators.names()

    with running(name, shell):
        made = shell.reads("sandbox", "--bank", name, "fault", "payout", "hang")
        listed = shell.reads("sandbox", "--bank", name, "fault")
        refused = shell.fails("sandbox", "--bank", other, "fault")

    assert (made["operation"], made["fault"]) == ("payout", "hang")
    assert [each["fault"] for each in listed] == ["hang"]
    assert "does not run" in refused


def test_a_bank_that_does_not_run_is_named(shell: Shell):
    assert "does not run" in shell.fails("demo", "--bank", "sandbox")
