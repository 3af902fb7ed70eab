"""What commands open before they work."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gateway.app.commands.context import AdminContext, opened, reached
from gateway.app.services import Services
from gateway.banks.port.providers import Unreachable
from gateway.cli.configuration import settings_of
from gateway.cli.console import Terminal
from gateway.companies.model import CompanyRequest
from gateway.companies.service import find_company
from gateway.config.upstream import Provider
from gateway.core.access import Staff
from gateway.core.audit_context import RuleViolation
from tests.world.people import account
from tests.world.shell import CONFIG, Shell


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(RuleViolation, match=r"/nowhere\.yaml cannot be read: No such file"):
        settings_of(Path("/nowhere.yaml"))


def test_the_first_mistake_is_told_and_the_others_counted(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("servr: {}\nadmn: {}\ntrce: {}\n")

    with pytest.raises(RuleViolation) as told:
        settings_of(file)

    assert "(and 2 more: see `pixgate config check`)" in str(told.value)
    assert "\n" not in str(told.value)


async def test_the_embedded_store_is_made_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setenv("PIXGATE_VAR", str(tmp_path))
    monkeypatch.setenv("PIXGATE_DATABASE_URL", "")

    async with opened(Terminal(config=CONFIG, as_json=False, by="me")) as office:
        made = await Services(office.kernel).companies.create(
            Staff(office.acting), CompanyRequest(name="Padaria")
        )

        assert await find_company(office.kernel.store.database, made.id) == made
        assert office.acting.actor == "me"
    assert (tmp_path / "pixgate.db").is_file()


def test_a_store_that_must_be_migrated_by_hand_says_so(fresh_shell):
    config = fresh_shell.folder / "config.yaml"
    config.write_text(f"var: {fresh_shell.folder}\ndatabase: {{migrate: never}}\n")

    line = fresh_shell.fails("company", "list", "--config", str(config))

    assert "run `pixgate db upgrade`" in line
    assert "\n" not in line


def test_a_store_of_the_other_environment_is_refused(shell):
    """Its stamp says whose it is."""
    shell.says("db", "upgrade")
    with sqlite3.connect(shell.folder / "pixgate.db") as database:
        database.execute("UPDATE store_stamp SET environment = 'production'")
    database.close()

    line = shell.fails("company", "list")

    assert line == "Error: The store belongs to production, this gateway to sandbox."


@pytest.mark.parametrize("url", ["mysql://root:hidden@db/x", "sqlite://"])
def test_a_url_of_no_store_is_refused_without_its_password(shell, url: str):
    shell.environ["PIXGATE_DATABASE_URL"] = url

    line = shell.fails("company", "list")

    assert "\n" not in line
    assert "hidden" not in line


def test_broken_keys_are_one_line(shell):
    (shell.folder / "keys.json").write_text("{")

    assert "keys.json" in shell.fails("company", "list")


@pytest.fixture
async def backoffice_client(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    """An opened office on a store of its own; its bank is away."""
    for name, value in shell.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PIXGATE_BANK_PORT", "1")
    async with opened(Terminal(config=CONFIG, as_json=True)) as office:
        yield office


async def test_a_configured_bank_is_there_and_the_limits_of_serving_hold(
    backoffice_client: AdminContext,
):
    async with reached(backoffice_client) as banks:
        bank = banks.of(account())

        assert bank is not None
        assert bank.name == "sandbox"
        with pytest.raises(Unreachable):
            await bank.adapter.get_balance(bank.account)


async def test_credentials_that_cannot_be_opened_are_told(backoffice_client: AdminContext):
    sealed = replace(account(), sealed_credentials=b"of another key")

    async with reached(backoffice_client) as banks:
        with pytest.raises(RuleViolation, match="cannot be opened"):
            banks.of(sealed)


async def test_an_adapter_that_does_not_take_its_settings_is_told(backoffice_client: AdminContext):
    wrong = Provider(adapter="sandbox", settings={"base_url": "http://bank.example.com"})
    settings = msgspec.structs.replace(backoffice_client.kernel.settings, providers={"far": wrong})
    kernel = replace(backoffice_client.kernel, settings=settings)
    office = AdminContext(kernel, backoffice_client.acting)

    with pytest.raises(RuleViolation, match="far"):
        async with reached(office):
            pass
