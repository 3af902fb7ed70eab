"""
The context of nouns' commands: the actor, and the services over an opened store.

Each command imports this module when it runs, since it loads every noun.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar, cast

from gateway.accounts.service import Accounts
from gateway.app.build_identity import build_identity
from gateway.app.build_payouts import build_follow_up, build_reconciler
from gateway.app.commands.store import opened_store, this_command
from gateway.app.failpoints import armed
from gateway.app.kernel import Kernel, SilentObserver
from gateway.app.sandbox import simulator
from gateway.app.services import (
    Services,
    build_credentials,
    build_endpoints,
    build_identity_providers,
)
from gateway.app.store import Store
from gateway.archive.service import Archive
from gateway.archive.store import ArchiveRecords
from gateway.audit.breaks import AuditBreaks
from gateway.audit.store import StoredAudit
from gateway.banks.connections import ConfiguredProvider, ConnectedBanks
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.callbacks.registrations import CallbackOrders, CallbackRegistrations
from gateway.cli.configuration import keys_of, settings_of
from gateway.cli.console import Terminal
from gateway.companies.service import Companies
from gateway.config.settings import Settings
from gateway.core.access import Staff
from gateway.core.account import Environment
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.key_rotation import key_conflicts
from gateway.core.money import Money
from gateway.credentials.public_keys import PublicKeys
from gateway.credentials.service import Credentials
from gateway.deliveries.service import Deliveries
from gateway.endpoints.service import Endpoints
from gateway.identity.mail import SealedMailbox
from gateway.identity.services import IdentityServices
from gateway.net.common.runtime import unarmed
from gateway.notifications.service import Chats
from gateway.payouts.matching import Execution
from gateway.payouts.reconciler import Reconciler
from gateway.payouts.staff import PayoutRecords
from gateway.payouts.verification import Verification
from gateway.process.process import wall_clock
from gateway.process.registration import refuse_conflicts
from gateway.reviews.service import Reviews
from gateway.security.keys import Derivation
from gateway.security.sealing import SealBroken, Sealer
from gateway.single_sign_on.service import IdentityProviders
from gateway.stops.service import Stops
from gateway.store.kernel.database import Database

Service = TypeVar("Service")
Books = Callable[[], Awaitable[Sequence[Execution]]]
_PROPOSALS: Final = "audit break proposals"


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
        return cast("Service", SERVICES[kind](Services(self.kernel)))

    @asynccontextmanager
    async def opened(self, kind: type[Service]) -> AsyncIterator[Service]:
        """Build a service that is closed in the end; raises as ``reached`` does."""
        async with OPENED[kind](self) as service:
            yield cast("Service", service)


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


def callback_orders(settings: Settings, derivation: Derivation) -> CallbackOrders:
    """Build the registrations of callback addresses; raises ``RuleViolation`` as ``connected``."""
    from gateway.app.banks import path_of, prover_of, secrets_of

    orders = {}
    for name, connection in connected(settings).items():
        if prover_of(connection.adapter) is not None:
            secret, *_ = (*secrets_of(name, settings, derivation).shared_or_derived, b"")
            url = settings.origin + path_of(name, derivation)
            orders[name] = CallbackOrder(url=url, secret=secret)
    return CallbackOrders(orders)


def _audit_breaks(services: Services) -> AuditBreaks:
    kernel = services.kernel
    return AuditBreaks(
        audit=kernel.store.audit,
        find_user=kernel.store.identity.users.find_by_email,
        keys=kernel.keys.derivation.keys(_PROPOSALS),
        now=kernel.now,
    )


def _callback_orders(services: Services) -> CallbackOrders:
    return callback_orders(services.kernel.settings, services.kernel.keys.derivation)


def _mailbox(services: Services) -> SealedMailbox:
    return SealedMailbox(services.kernel.store.database, services.kernel.keys.sealer)


def _archive(services: Services) -> Archive:
    kernel = services.kernel
    return Archive(
        database=kernel.store.database,
        records=ArchiveRecords(kernel.store.database),
        keep_months=kernel.settings.payouts.keep_months,
        passed=armed(kernel.settings.environment, os.environ) or unarmed,
    )


SERVICES: Final[Mapping[type, Callable[[Services], object]]] = {
    Accounts: lambda services: services.accounts,
    Archive: _archive,
    AuditBreaks: _audit_breaks,
    CallbackOrders: _callback_orders,
    Chats: lambda services: services.chats,
    Companies: lambda services: services.companies,
    # the command line waits for nobody
    Credentials: lambda services: build_credentials(services.kernel),
    Deliveries: lambda services: services.deliveries,
    Database: lambda services: services.kernel.store.database,
    Endpoints: build_endpoints,
    IdentityProviders: build_identity_providers,
    PayoutRecords: lambda services: services.payout_records,
    PublicKeys: lambda services: PublicKeys(build_credentials(services.kernel)),
    Reviews: lambda services: services.reviews,
    SealedMailbox: _mailbox,
    Stops: lambda services: services.stops,
    StoredAudit: lambda services: services.kernel.store.audit,
}
"""What is made over the store alone."""


@asynccontextmanager
async def _identity(office: AdminContext) -> AsyncIterator[IdentityServices]:
    """Stop the hashing threads in the end; nothing runs in the background."""
    identity = build_identity(office.kernel)
    try:
        yield identity
    finally:
        await identity.close()


@asynccontextmanager
async def _reconciler(office: AdminContext) -> AsyncIterator[Reconciler]:
    async with reached(office) as banks:
        yield build_reconciler(office.kernel, build_follow_up(office.kernel, banks))


@asynccontextmanager
async def _registrations(office: AdminContext) -> AsyncIterator[CallbackRegistrations]:
    store = office.kernel.store
    async with reached(office) as banks:
        yield CallbackRegistrations(
            accounts=store.accounts, banks=banks, audit=store.audit, acting=office.acting
        )


@asynccontextmanager
async def _verification(office: AdminContext) -> AsyncIterator[Verification]:
    store = office.kernel.store
    async with reached(office) as banks:
        yield Verification(
            payouts=store.payouts,
            follow_ups=store.follow_ups,
            banks=banks,
            now=office.acting.now,
            books=sandbox_books(office.kernel.settings),
        )


OPENED: Final[Mapping[type, Callable[[AdminContext], AbstractAsyncContextManager[object]]]] = {
    CallbackRegistrations: _registrations,
    IdentityServices: _identity,
    Reconciler: _reconciler,
    Verification: _verification,
}
"""What is closed in the end."""


def sandbox_books(settings: Settings) -> Books | None:
    """Return the sandbox bank's own list of executions; None without a sandbox provider."""
    adapters = {provider.adapter for provider in settings.providers.values()}
    if settings.environment is not Environment.SANDBOX or "sandbox" not in adapters:
        return None

    async def books() -> list[Execution]:
        control = simulator().ControlPort(lambda: settings.sandbox_bank.control_url)
        told = await control.get("executions")
        return [
            Execution(
                key=row["key"] or "",
                e2e_id=row["e2e_id"],
                value=Money(row["centavos"]),
                at=datetime.fromisoformat(row["at"]),
            )
            for row in told["data"]
        ]

    return books
