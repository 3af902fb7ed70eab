"""Builders of the services that nouns' commands use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Final

from gateway.accounts.service import Accounts
from gateway.app.build_payouts import build_follow_up, build_reconciler
from gateway.app.commands.context import AdminContext, connected, reached
from gateway.app.sandbox import simulator
from gateway.app.services import Services, build_credentials
from gateway.audit.breaks import AuditBreaks
from gateway.audit.store import StoredAudit
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.callbacks.registrations import CallbackOrders, CallbackRegistrations
from gateway.companies.service import Companies
from gateway.config.settings import Settings
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.credentials.service import Credentials
from gateway.identity.mail import SealedOutbox
from gateway.identity.services import IdentityServices
from gateway.payouts.matching import Execution
from gateway.payouts.reconciler import Reconciler
from gateway.payouts.staff import PayoutRecords
from gateway.payouts.verification import Verification
from gateway.reviews.service import Reviews
from gateway.security.keys import Derivation
from gateway.stops.service import Stops
from gateway.store.kernel.database import Database

_PROPOSALS: Final = "audit break proposals"
Books = Callable[[], Awaitable[Sequence[Execution]]]


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


def _outbox(services: Services) -> SealedOutbox:
    return SealedOutbox(services.kernel.store.database, services.kernel.keys.sealer)


SERVICES: Final[Mapping[type, Callable[[Services], object]]] = {
    Accounts: lambda services: services.accounts,
    AuditBreaks: _audit_breaks,
    CallbackOrders: _callback_orders,
    Companies: lambda services: services.companies,
    # the command line waits for nobody
    Credentials: lambda services: build_credentials(services.kernel),
    Database: lambda services: services.kernel.store.database,
    PayoutRecords: lambda services: services.payout_records,
    Reviews: lambda services: services.reviews,
    SealedOutbox: _outbox,
    Stops: lambda services: services.stops,
    StoredAudit: lambda services: services.kernel.store.audit,
}
"""What is made over the store alone."""


@asynccontextmanager
async def _identity(office: AdminContext) -> AsyncIterator[IdentityServices]:
    """Stop the hashing threads in the end; nothing runs in the background."""
    from gateway.app.build_identity import build_identity

    identity = build_identity(office.kernel)
    try:
        yield identity.services
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
