"""The banks of the configuration, reached for the length of one command."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from gateway.app.build_bank import connect
from gateway.cli.config.probes import Silent
from gateway.cli.context import Office
from gateway.config.settings import Settings
from gateway.operations.kernel.audit_context import RuleViolation
from gateway.runtime.providers.directory import ConnectedBanks, Connection
from gateway.security.sealing import SealBroken, Sealer
from provider_adapters._shared.factory import AdapterRefused


@asynccontextmanager
async def reached(office: Office) -> AsyncIterator[ConnectedBanks]:
    """
    Open the adapters of every configured provider, and close them in the end.

    Raises:
        RuleViolation: an adapter does not take its settings, or an account's
            credentials cannot be opened under the keys of now.
    """
    settings = office.settings
    async with AsyncExitStack() as opened:
        connections = {name: _connected(name, settings) for name in settings.providers}
        for connection in connections.values():
            await connection.adapter.start()
            opened.push_async_callback(connection.adapter.close)
        yield ConnectedBanks(connections, _unsealing(office.keys.sealer))


def _connected(name: str, settings: Settings) -> Connection:
    """Make one adapter, under the limits that serving has too."""
    try:
        return connect(name, settings, Silent())
    except AdapterRefused as problem:
        raise RuleViolation(str(problem)) from problem


def _unsealing(sealer: Sealer) -> Callable[[bytes, str], str]:
    def unseal(sealed: bytes, account_id: str) -> str:
        try:
            return sealer.open(sealed, account_id)
        except SealBroken as problem:
            message = f"the provider credentials of account {account_id} cannot be opened"
            raise RuleViolation(message) from problem

    return unseal
