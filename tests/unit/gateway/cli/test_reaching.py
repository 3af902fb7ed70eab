"""The banks of the configuration, for the length of a command."""

from dataclasses import replace

import msgspec
import pytest

from gateway.cli.console import Terminal
from gateway.cli.context import Office, opened
from gateway.cli.reaching import reached
from gateway.config.upstream import Provider
from gateway.domain.bank.providers import Unreachable
from gateway.operations.kernel.audit_context import RuleViolation
from tests.shell import CONFIG, Shell
from tests.unit.people import account


@pytest.fixture
async def desk(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    """An opened office on a store of its own; its bank is away."""
    for name, value in shell.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PIXGATE_BANK_PORT", "1")
    async with opened(Terminal(config=CONFIG, as_json=True)) as office:
        yield office


async def test_a_configured_bank_is_there_and_the_limits_of_serving_hold(desk: Office):
    async with reached(desk) as banks:
        bank = banks.of(account())

        assert bank is not None
        assert bank.name == "sandbox"
        with pytest.raises(Unreachable):
            await bank.adapter.get_balance(bank.account)


async def test_credentials_that_cannot_be_opened_are_told(desk: Office):
    sealed = replace(account(), sealed_credentials=b"of another key")

    async with reached(desk) as banks:
        with pytest.raises(RuleViolation, match="cannot be opened"):
            banks.of(sealed)


async def test_an_adapter_that_does_not_take_its_settings_is_told(desk: Office):
    wrong = Provider(adapter="sandbox", settings={"base_url": "http://bank.example.com"})
    settings = msgspec.structs.replace(desk.settings, providers={"far": wrong})
    office = Office(settings=settings, store=desk.store, keys=desk.keys, acting=desk.acting)

    with pytest.raises(RuleViolation, match="far"):
        async with reached(office):
            pass
