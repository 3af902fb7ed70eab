"""What commands open before they work, and the books of the sandbox bank."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gateway.app.commands.context import AdminContext, opened, reached, sandbox_books
from gateway.app.services import Services
from gateway.banks.port.providers import Unreachable
from gateway.cli.configuration import settings_of
from gateway.cli.console import Terminal
from gateway.companies.model import CompanyRequest
from gateway.companies.service import find_company
from gateway.config.settings import Settings
from gateway.config.upstream import Provider, SandboxBank
from gateway.core.access import Staff
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from gateway.identity.services import IdentityServices
from tests.world.people import account
from tests.world.shell import CONFIG, Shell

SANDBOX = Settings(
    providers={"sandbox": Provider(adapter="sandbox")}, sandbox_bank=SandboxBank(control_port=1)
)


def test_an_absent_configuration_file_is_named():
    with pytest.raises(RuleViolation, match=r"/nowhere\.yaml cannot be read: No such file"):
        settings_of(Path("/nowhere.yaml"))


def test_the_first_error_is_reported_and_the_others_counted(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("servr: {}\nadmn: {}\ntrce: {}\n")

    with pytest.raises(RuleViolation) as told:
        settings_of(file)

    assert "(and 2 more: see `pixgate config check`)" in str(told.value)
    assert "\n" not in str(told.value)


async def test_the_embedded_store_is_created_when_a_command_opens_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PIXGATE_VAR", str(tmp_path))
    monkeypatch.setenv("PIXGATE_DATABASE_URL", "")

    async with opened(Terminal(config=CONFIG, as_json=False, by="me")) as office:
        made = await Services(office.kernel).companies.create(
            Staff(office.acting), CompanyRequest(name="Padaria")
        )

        assert await find_company(office.kernel.store.database, made.id) == made
        assert office.acting.actor == "me"
    assert (tmp_path / "pixgate.db").is_file()


@pytest.fixture
async def backoffice_client(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    """An opened office on a store of its own; its bank is away."""
    for name, value in shell.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PIXGATE_BANK_PORT", "1")
    async with opened(Terminal(config=CONFIG, as_json=True)) as office:
        yield office


async def test_commands_reach_configured_banks_with_the_limits_of_serving(
    backoffice_client: AdminContext,
):
    async with reached(backoffice_client) as banks:
        bank = banks.of(account())

        assert bank is not None
        assert bank.name == "sandbox"
        with pytest.raises(Unreachable):
            await bank.adapter.get_balance(bank.account)


async def test_credentials_that_cannot_be_opened_are_reported(backoffice_client: AdminContext):
    sealed = replace(account(), sealed_credentials=b"of another key")

    async with reached(backoffice_client) as banks:
        with pytest.raises(RuleViolation, match="cannot be opened"):
            banks.of(sealed)


async def test_an_adapter_that_refuses_its_settings_is_reported(
    backoffice_client: AdminContext,
):
    wrong = Provider(adapter="sandbox", settings={"base_url": "http://bank.example.com"})
    settings = msgspec.structs.replace(backoffice_client.kernel.settings, providers={"far": wrong})
    kernel = replace(backoffice_client.kernel, settings=settings)
    office = AdminContext(kernel, backoffice_client.acting)

    with pytest.raises(RuleViolation, match="far"):
        async with reached(office):
            pass


@pytest.mark.parametrize(
    "settings",
    [
        msgspec.structs.replace(SANDBOX, environment=Environment.PRODUCTION),
        msgspec.structs.replace(SANDBOX, providers={}),
        msgspec.structs.replace(SANDBOX, providers={"bank": Provider(adapter="bank")}),
    ],
    ids=["production", "no provider", "another provider"],
)
def test_books_of_other_banks_are_not_available(settings: Settings):
    assert sandbox_books(settings) is None


async def test_unreachable_books_are_an_error():
    books = sandbox_books(SANDBOX)
    assert books is not None

    with pytest.raises(RuleViolation, match="does not answer"):
        await books()


async def test_the_hashing_threads_are_released_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIXGATE_VAR", str(tmp_path))
    monkeypatch.delenv("PIXGATE_DATABASE_URL", raising=False)
    problem = RuleViolation("not so")

    async with opened(Terminal(config=CONFIG, as_json=False)) as office:
        with pytest.raises(RuleViolation, match="not so"):
            async with office.opened(IdentityServices) as services:
                raise problem

    assert services.users.context.crypto.hashing._pool._shutdown
