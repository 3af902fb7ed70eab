"""``pixgate demo --bank``: an account at a simulated bank becomes one of ours."""

from __future__ import annotations

import asyncio
import difflib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from gateway.config.reading import settings_from
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from provider_adapters.kit.references import txids
from provider_adapters.testing import simulators
from provider_adapters.testing.bank.server import SimulatedBank
from provider_adapters.testing.commands.banks import address_of
from provider_adapters.testing.commands.demo_bank import CHARGE, write_provider
from tests.world.shell import Shell

pytestmark = pytest.mark.slow

BANK = {"adapter": "sandbox", "settings": {"base_url": "http://127.0.0.1:8100", "pem": "a\nb"}}
PLAIN = """# ours
providers:  # each bank once
  # the first one
  one:
    adapter: sandbox
database:
  url: ""
"""


@contextmanager
def running(name: str, shell: Shell) -> Iterator[SimulatedBank]:
    """Run a simulated bank in a thread, registered in the shell's folder."""
    folder = shell.folder / "banks"
    folder.mkdir()
    bank = SimulatedBank(
        dialect=simulators.find(name).dialect,
        db_path=str(folder / f"{name}.db"),
        port=0,
        control_port=0,
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(bank.start(), loop).result()
        (folder / f"{name}.json").write_bytes(msgspec.json.encode(address_of(bank)))
        yield bank
        asyncio.run_coroutine_threadsafe(bank.close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def own_config(shell: Shell) -> None:
    file = shell.folder.parent / "config.yaml"
    file.write_text(Path(shell.environ["PIXGATE_CONFIG"]).read_text())
    shell.environ["PIXGATE_CONFIG"] = str(file)


@pytest.mark.usefixtures("own_config")
@pytest.mark.parametrize("name", simulators.names())
def test_the_printed_provider_completes_the_configuration(shell: Shell, name: str):
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


def removed(before: str, after: str) -> list[str]:
    compared = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in compared if line.startswith("- ")]


def providers(text: str) -> dict[str, object]:
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


def test_the_demo_charge_has_a_reference_every_bank_accepts_as_txid():
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


def test_a_stopped_bank_is_reported_by_name(shell: Shell):
    assert "does not run" in shell.fails("demo", "--bank", "sandbox")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "config.yaml"
    made.write_text(PLAIN)
    made.chmod(0o640)
    return made


def test_a_new_provider_is_written_first_and_the_rest_is_unchanged(file: Path):
    write_provider(file, "two", BANK)

    settings = settings_from(file.read_text(), {})
    assert list(settings.providers) == ["two", "one"]
    assert settings.providers["two"].settings == BANK["settings"]
    assert file.stat().st_mode & 0o777 == 0o640
    assert removed(PLAIN, file.read_text()) == []
    assert sorted(each.name for each in file.parent.iterdir()) == ["config.yaml"]


@pytest.mark.parametrize(
    "text",
    ["providers: {}\n", "database: {}\n", "  providers:\n", PLAIN.replace("one:", "two:"), "a: ["],
)
def test_a_configuration_that_cannot_be_edited_safely_is_unchanged(file: Path, text: str):
    file.write_text(text)

    with pytest.raises(RuleViolation):
        write_provider(file, "two", BANK)
    assert file.read_text() == text


def test_an_unwritable_folder_is_reported_in_one_line(file: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refused)

    with pytest.raises(RuleViolation, match="cannot be written: Permission denied"):
        write_provider(file, "two", BANK)
