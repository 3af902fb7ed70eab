"""``pixgate callbacks register``, ``list`` and ``remove``: our address at a bank."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from gateway.cli.console import Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, in_store

if TYPE_CHECKING:
    from gateway.banks.port.provider_callbacks import RegisteredCallback
    from gateway.callbacks.registrations import CallbackRegistrations

_REGISTERED = ("id", "url")
_account = click.option("--account", "account_id", required=True, help="A UUID.")


@click.command()
@_account
@changing
def register(terminal: Terminal, account_id: str) -> None:
    """Have an account's bank send its callbacks to the address shown for its provider."""
    made = in_store(terminal, lambda office: register_callback(office, account_id))
    _show(terminal, [made])


@click.command("list")
@_account
@reading
def listing(terminal: Terminal, account_id: str) -> None:
    """List every address that an account's bank sends callbacks to, not only ours."""

    async def listed(office: CommandContext) -> Sequence[RegisteredCallback]:
        async with _registrations(office) as registrations:
            return await registrations.list(await registrations.account(account_id))

    _show(terminal, in_store(terminal, listed))


@click.command()
@click.argument("callback_id")
@_account
@changing
def remove(terminal: Terminal, callback_id: str, account_id: str) -> None:
    """
    Stop an account's bank from calling an address.

    CALLBACK_ID is the bank's id of the address.
    """

    async def removed(office: CommandContext) -> Sequence[RegisteredCallback]:
        async with _registrations(office) as registrations:
            account = await registrations.account(account_id)
            await registrations.remove(account, callback_id)
            return await registrations.list(account)

    _show(terminal, in_store(terminal, removed))


async def register_callback(office: CommandContext, account_id: str) -> RegisteredCallback:
    """
    Register our callback address at an account's bank.

    Raises:
        RuleViolation: the adapter takes no addresses, or ``CallbackRegistrations`` refuses.
    """
    from gateway.callbacks.registrations import CallbackOrders

    async with _registrations(office) as registrations:
        account = await registrations.account(account_id)
        order = office.service(CallbackOrders).of(account.provider)
        return await registrations.register(account, order)


@asynccontextmanager
async def _registrations(office: CommandContext) -> AsyncIterator[CallbackRegistrations]:
    """Open the banks, for one trace; raises ``RuleViolation`` as ``CommandContext.opened``."""
    from gateway.callbacks.registrations import CallbackRegistrations
    from gateway.core import trace

    async with office.opened(CallbackRegistrations) as registrations:
        trace.begin(trace.new_trace_id())
        yield registrations


def _show(terminal: Terminal, found: Sequence[RegisteredCallback]) -> None:
    terminal.show_all([fields_of(each, *_REGISTERED) for each in found], _REGISTERED)
