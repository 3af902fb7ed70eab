"""Context of commands: the configuration, and the store with its keys."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar, cast

from gateway.app.kernel import Kernel, SilentObserver
from gateway.app.store import Store, open_store, prepare
from gateway.audit.log import audit_keys
from gateway.banks.connections import ConfiguredProvider, ConnectedBanks
from gateway.cli.configuration import keys_of, settings_of
from gateway.cli.console import Terminal
from gateway.config.checks import unsafe_sqlite
from gateway.config.settings import Settings
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.key_rotation import LiveProcess, key_conflicts
from gateway.payouts.store import EventSealing
from gateway.process.process import wall_clock
from gateway.process.registration import refuse_conflicts
from gateway.security.keys import Keys
from gateway.security.sealing import SealBroken, Sealer
from gateway.store.kernel.chain import NO_KEYS
from gateway.store.stamp import StoreRefused

Service = TypeVar("Service")


@dataclass(frozen=True, slots=True)
class AdminContext:
    """The kernel over an opened store, and the person who acts."""

    kernel: Kernel
    acting: AuditContext

    @property
    def staff(self) -> Staff:
        """The person who typed the command, as a staff member."""
        return Staff(self.acting)

    def service(self, kind: type[Service]) -> Service:
        """Build a service over the store."""
        from gateway.app.commands.services import SERVICES
        from gateway.app.services import Services

        return cast("Service", SERVICES[kind](Services(self.kernel)))

    @asynccontextmanager
    async def opened(self, kind: type[Service]) -> AsyncIterator[Service]:
        """Build a service that is closed in the end; raises as ``reached`` does."""
        from gateway.app.commands.services import OPENED

        async with OPENED[kind](self) as service:
            yield cast("Service", service)


def this_command(keys: Keys) -> LiveProcess:
    """Describe this command as a process; it is not registered, since it ends in a moment."""
    return LiveProcess(id="", name="this command", keys=keys.ids)


@asynccontextmanager
async def opened_store(
    settings: Settings, *, migrate: bool, keys: Keys | None = None
) -> AsyncIterator[Store]:
    """
    Open the store, check that it is ours, and close it in the end.

    Without ``keys``, nothing that the audit log records can be done.

    Raises:
        RuleViolation: the store has another environment or schema, or must not be used.
        StoreUnavailable: the store does not answer.
    """
    now = wall_clock(settings.environment, os.environ)
    async with own_store(settings, keys) as store:
        await prepare(store, settings.environment, migrate=migrate, now=now)
        yield store


@asynccontextmanager
async def own_store(settings: Settings, keys: Keys | None = None) -> AsyncIterator[Store]:
    """
    Open the store, whatever its schema, and close it in the end.

    Raises:
        RuleViolation: the store must not be used, or the block raised ``StoreRefused``.
        StoreUnavailable: the store does not answer.
    """
    try:
        for finding in unsafe_sqlite(settings):
            raise RuleViolation(str(finding))
        chain = audit_keys(keys) if keys is not None else NO_KEYS
        facts = EventSealing(keys.derivation) if keys is not None else None
        now = wall_clock(settings.environment, os.environ)
        store = open_store(settings.store_url, chain=chain, facts=facts, now=now)
    except (StoreRefused, ValueError) as problem:
        raise RuleViolation(str(problem)) from problem
    try:
        yield store
    except StoreRefused as problem:
        raise RuleViolation(str(problem)) from problem
    finally:
        await store.close()


@asynccontextmanager
async def opened(terminal: Terminal, *, any_keys: bool = False) -> AsyncIterator[AdminContext]:
    """
    Open everything an administrative command needs; raises as ``opened_store`` does.

    The embedded default is migrated on the way. A command whose keys do not fit those of the live
    processes is refused, except with ``any_keys``.
    """
    settings = settings_of(terminal.config)
    keys = keys_of(settings)
    async with opened_store(settings, migrate=settings.migrates, keys=keys) as store:
        now = wall_clock(settings.environment, os.environ)
        if not any_keys:
            alive = await store.processes.alive(now())
            refuse_conflicts(key_conflicts(this_command(keys), alive))
        acting = AuditContext(await _actor(terminal, store), now)
        kernel = Kernel(settings=settings, store=store, keys=keys, now=now)
        yield AdminContext(kernel, acting)


async def _actor(terminal: Terminal, store: Store) -> str:
    """Return the name of the actor; a user's e-mail address means that user, as in the panel."""
    email = terminal.by.strip().lower().removeprefix("user:")
    user = await store.identity.users.find_by_email(email) if "@" in email else None
    return terminal.actor if user is None else f"user:{user.email}"


@asynccontextmanager
async def reached(office: AdminContext) -> AsyncIterator[ConnectedBanks]:
    """
    Open the adapters of every configured provider, and close them in the end.

    Raises:
        RuleViolation: an adapter does not take its settings, or an account's
            credentials cannot be decrypted with the current keys.
    """
    from gateway.app.banks import start
    from provider_adapters.kit.factory import AdapterRefused

    connections = connected(office.kernel.settings)
    async with AsyncExitStack() as opened:
        try:
            for name, connection in connections.items():
                await start(name, connection)
                opened.push_async_callback(connection.adapter.close)
        except AdapterRefused as problem:
            raise RuleViolation(str(problem)) from problem
        yield ConnectedBanks(connections, _unsealing(office.kernel.keys.sealer))


def connected(settings: Settings) -> Mapping[str, ConfiguredProvider]:
    """Make the adapters, under the limits that serving has too; raises ``RuleViolation``."""
    from gateway.app.banks import connect
    from provider_adapters.kit.factory import AdapterRefused

    try:
        return {name: connect(name, settings, SilentObserver()) for name in settings.providers}
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
