"""``pixgate demo --bank``: an account at a simulated bank becomes one of ours."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from gateway.cli.sandbox.banks import BankFolder, address_of
from gateway.cli.sandbox.demo_bank import CHARGE
from gateway.domain.accounts.accounts import Environment
from provider_adapters import simulators
from provider_adapters.kit.references import txids
from provider_adapters.simulated_bank.server import SimulatedBank
from tests.unit.gateway.cli.sandbox.provider_block import removed
from tests.world.shell import Shell

pytestmark = pytest.mark.slow


@pytest.fixture(params=simulators.names())
def running(request: pytest.FixtureRequest, shell: Shell) -> Iterator[tuple[str, SimulatedBank]]:
    """A simulated bank in a thread of its own, told of in the shell's folder."""
    name, folder = request.param, BankFolder(shell.folder / "banks")
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
    asyncio.run_coroutine_threadsafe(bank.start(), loop).result(10)
    folder.tell(name, address_of(bank))
    yield name, bank
    asyncio.run_coroutine_threadsafe(bank.close(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def configured(shell: Shell, printed: str) -> None:
    """Add the lines that were printed to the shell's configuration, under a name of their own."""
    document = yaml.safe_load((shell.folder.parent / "config.yaml").read_text())
    document["providers"].update(yaml.safe_load(printed)["providers"])
    (shell.folder.parent / "config.yaml").write_text(yaml.safe_dump(document))


@pytest.fixture
def own_config(shell: Shell) -> None:
    """A configuration that the test may change."""
    file = shell.folder.parent / "config.yaml"
    file.write_text(Path(shell.environ["PIXGATE_CONFIG"]).read_text())
    shell.environ["PIXGATE_CONFIG"] = str(file)


@pytest.mark.usefixtures("own_config")
def test_what_is_printed_is_all_that_the_configuration_lacks(
    shell: Shell, running: tuple[str, SimulatedBank]
):
    name, bank = running

    refused = shell.fails("demo", "--bank", name)
    configured(shell, refused.partition("\n\n")[2])
    made = shell.reads("demo", "--bank", name)

    assert made["bank"] == name
    assert made["control_url"] == bank.control_url
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


@pytest.mark.usefixtures("own_config")
def test_the_configuration_is_written_once(shell: Shell, running: tuple[str, SimulatedBank]):
    name, _ = running
    file = Path(shell.environ["PIXGATE_CONFIG"])
    before = file.read_text()

    first = shell.reads("demo", "--bank", name, "--configure")
    written = file.read_text()
    second = shell.reads("demo", "--bank", name, "--configure")

    assert file.read_text() == written
    assert first["provider"] == second["provider"]
    assert first["account_id"] != second["account_id"]
    assert removed(before, written) == []


def test_a_running_bank_is_controlled_by_its_name(shell: Shell, running: tuple[str, SimulatedBank]):
    name, bank = running

    made = shell.reads("sandbox", "--bank", name, "fault", "payout", "hang")
    listed = shell.reads("sandbox", "--bank", name, "fault")

    assert bank.control_url
    assert (made["operation"], made["fault"]) == ("payout", "hang")
    assert [each["fault"] for each in listed] == ["hang"]
    assert "does not run" in shell.fails("sandbox", "--bank", _other(name), "fault")


def _other(name: str) -> str:
    return next(each for each in simulators.names() if each != name)


def test_a_bank_that_does_not_run_is_named(shell: Shell):
    assert "does not run" in shell.fails("demo", "--bank", "sandbox")
