"""``pixgate callbacks``: where banks tell us of what happened, the sandbox bank among them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from gateway.cli.console import Terminal, changing, fields_of, reading
from gateway.cli.store_access import in_store
from gateway.core.audit_context import RuleViolation

if TYPE_CHECKING:
    from gateway.banks.port.provider_callbacks import RegisteredCallback
    from gateway.callbacks.registrations import CallbackRegistrations
    from gateway.cli.context import AdminContext
    from gateway.config.settings import Settings

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

    from gateway.app.build_callbacks import path_of
    from gateway.cli.configuration import settings_of
    from gateway.cli.context import keys_of

    settings = settings_of(terminal.config)
    derivation = keys_of(settings).derivation
    rows = [
        {"provider": name, "url": settings.origin + path_of(name, derivation)}
        for name in sorted(_senders(settings))
    ]
    terminal.show_all(rows, _COLUMNS)


@callbacks.command()
@_account
@changing
def register(terminal: Terminal, account_id: str) -> None:
    """Have an account's bank send its callbacks to the address shown for its provider."""
    made = in_store(terminal, lambda office: register_callback(office, account_id))
    _show(terminal, [made])


@callbacks.command("list")
@_account
@reading
def listing(terminal: Terminal, account_id: str) -> None:
    """List every address that an account's bank sends callbacks to, not only ours."""

    async def listed(office: AdminContext) -> Sequence[RegisteredCallback]:
        async with _registrations(office) as registrations:
            return await registrations.list(await registrations.account(account_id))

    _show(terminal, in_store(terminal, listed))


@callbacks.command()
@click.argument("callback_id")
@_account
@changing
def remove(terminal: Terminal, callback_id: str, account_id: str) -> None:
    """
    Stop an account's bank from calling an address.

    CALLBACK_ID is the bank's id of the address.
    """

    async def removed(office: AdminContext) -> Sequence[RegisteredCallback]:
        async with _registrations(office) as registrations:
            account = await registrations.account(account_id)
            await registrations.remove(account, callback_id)
            return await registrations.list(account)

    _show(terminal, in_store(terminal, removed))


async def register_callback(office: AdminContext, account_id: str) -> RegisteredCallback:
    """
    Have an account's bank send its callbacks here.

    Raises:
        RuleViolation: the adapter takes none, or ``CallbackRegistrations`` refuses.
    """
    from gateway.app.build_callbacks import path_of, secrets_of
    from gateway.banks.port.provider_callbacks import CallbackOrder

    settings, derivation = office.kernel.settings, office.kernel.keys.derivation
    async with _registrations(office) as registrations:
        account = await registrations.account(account_id)
        provider = account.provider
        if provider not in _senders(settings):
            message = f"the adapter of {provider} takes no callbacks"
            raise RuleViolation(message)
        url = settings.origin + path_of(provider, derivation)
        secret, *_ = (*secrets_of(provider, settings, derivation).shared_or_derived, b"")
        return await registrations.register(account, CallbackOrder(url=url, secret=secret))


@asynccontextmanager
async def _registrations(office: AdminContext) -> AsyncIterator[CallbackRegistrations]:
    """Open the banks; raises ``RuleViolation`` as ``reached`` does."""
    from gateway.callbacks.registrations import CallbackRegistrations
    from gateway.cli.context import reached
    from gateway.core import trace

    store = office.kernel.store
    async with reached(office) as banks:
        trace.begin(trace.new_trace_id())
        yield CallbackRegistrations(
            accounts=store.accounts, banks=banks, audit=store.audit, acting=office.acting
        )


def _show(terminal: Terminal, found: Sequence[RegisteredCallback]) -> None:
    terminal.show_all([fields_of(each, *_REGISTERED) for each in found], _REGISTERED)


def _senders(settings: Settings) -> list[str]:
    """Name the providers whose banks send callbacks; raises ``RuleViolation``."""
    from gateway.app.build_callbacks import prover_of
    from gateway.cli.context import connected

    adapters = {name: each.adapter for name, each in connected(settings).items()}
    return [name for name, each in adapters.items() if prover_of(each) is not None]
