"""``pixgate callbacks``: where banks tell us of what happened, the sandbox bank among them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from gateway.cli.console import Row, Terminal, changing, reading, run
from gateway.operations.kernel.audit_context import RuleViolation

if TYPE_CHECKING:
    from gateway.cli.context import AdminContext
    from gateway.config.settings import Settings
    from gateway.domain.bank.provider_callbacks import CallbackOrder, RegisteredCallback
    from gateway.operations.backoffice.callbacks.at_banks import CallbackRegistrations
    from gateway.security.keys import Derivation

_COLUMNS = ("provider", "url")
_REGISTERED = ("id", "url")
_account = click.option("--account", "account_id", required=True, help="A UUID.")


@click.group("callbacks", invoke_without_command=True)
@reading
def callbacks(terminal: Terminal) -> None:
    """
    Show the address that each bank is given for its callbacks.

    Its last step is made from the sealing key. After that is replaced, the former address
    goes on answering while the former key is in sealing.retired_keys.

    The commands below tell a bank of the address, where its interface allows that.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return

    async def work() -> list[Row]:
        from gateway.app.build_callbacks import path_of
        from gateway.cli.configuration import settings_of
        from gateway.cli.context import keys_of

        settings = settings_of(terminal.config)
        derivation = keys_of(settings).derivation
        return [
            {"provider": name, "url": settings.origin + path_of(name, derivation)}
            for name in sorted(_senders(settings))
        ]

    terminal.show_all(run(work()), _COLUMNS)


@callbacks.command()
@_account
@changing
def register(terminal: Terminal, account_id: str) -> None:
    """Have an account's bank send its callbacks to the address shown for its provider."""

    async def work(banks: BankCallbacks) -> list[Row]:
        return [_row(await banks.register(account_id))]

    terminal.show_all(run(_with_banks(terminal, work)), _REGISTERED)


@callbacks.command("list")
@_account
@reading
def listing(terminal: Terminal, account_id: str) -> None:
    """List every address that an account's bank sends callbacks to, not only ours."""

    async def work(banks: BankCallbacks) -> list[Row]:
        account = await banks.registrations.account(account_id)
        return [_row(each) for each in await banks.registrations.list(account)]

    terminal.show_all(run(_with_banks(terminal, work)), _REGISTERED)


@callbacks.command()
@click.argument("callback_id")
@_account
@changing
def remove(terminal: Terminal, callback_id: str, account_id: str) -> None:
    """
    Stop an account's bank from calling an address.

    CALLBACK_ID is the bank's id of the address.
    """

    async def work(banks: BankCallbacks) -> list[Row]:
        account = await banks.registrations.account(account_id)
        await banks.registrations.remove(account, callback_id)
        return [_row(each) for each in await banks.registrations.list(account)]

    terminal.show_all(run(_with_banks(terminal, work)), _REGISTERED)


@dataclass(frozen=True, slots=True)
class BankCallbacks:
    """What the commands about addresses at banks work with."""

    registrations: CallbackRegistrations
    settings: Settings
    derivation: Derivation

    async def register(self, account_id: str) -> RegisteredCallback:
        """Have an account's bank send its callbacks here; raises ``RuleViolation``."""
        account = await self.registrations.account(account_id)
        return await self.registrations.register(account, self._order(account.provider))

    def _order(self, provider: str) -> CallbackOrder:
        """
        Say where a provider's bank is to send its callbacks, and what it is to prove them with.

        Raises:
            RuleViolation: its adapter takes none.
        """
        from gateway.app.build_callbacks import path_of, secrets_of
        from gateway.domain.bank.provider_callbacks import CallbackOrder

        if provider not in _senders(self.settings):
            message = f"the adapter of {provider} takes no callbacks"
            raise RuleViolation(message)
        secrets = secrets_of(provider, self.settings, self.derivation).shared_or_derived
        return CallbackOrder(
            url=self.settings.origin + path_of(provider, self.derivation),
            secret=secrets[0] if secrets else b"",
        )


@asynccontextmanager
async def bank_callbacks(office: AdminContext) -> AsyncIterator[BankCallbacks]:
    """Open the banks; raises ``RuleViolation`` as ``reached`` does."""
    from gateway.cli.context import reached
    from gateway.operations.backoffice.callbacks.at_banks import CallbackRegistrations
    from gateway.telemetry import trace

    async with reached(office) as banks:
        trace.begin(trace.new_trace_id())
        kernel = office.kernel
        registrations = CallbackRegistrations(
            accounts=kernel.store.accounts,
            banks=banks,
            audit=kernel.store.audit,
            acting=office.acting,
        )
        yield BankCallbacks(registrations, kernel.settings, kernel.keys.derivation)


async def _with_banks(
    terminal: Terminal, work: Callable[[BankCallbacks], Awaitable[list[Row]]]
) -> list[Row]:
    """Open the store and the banks for a piece of work."""
    from gateway.cli.context import opened

    async with opened(terminal) as office, bank_callbacks(office) as banks:
        return await work(banks)


def _row(registered: RegisteredCallback) -> Row:
    return {"id": registered.id, "url": registered.url}


def _senders(settings: Settings) -> list[str]:
    """Name the providers whose banks send callbacks; raises ``RuleViolation``."""
    from gateway.app.build_bank import connect
    from gateway.app.build_callbacks import prover_of
    from gateway.runtime.kernel import SilentObserver
    from provider_adapters.kit.factory import AdapterRefused

    try:
        adapters = {
            name: connect(name, settings, SilentObserver()).adapter for name in settings.providers
        }
    except AdapterRefused as problem:
        raise RuleViolation(str(problem)) from problem
    return [name for name, each in adapters.items() if prover_of(each) is not None]
