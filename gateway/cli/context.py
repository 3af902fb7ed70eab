"""What commands work on: the configuration, and the store with the keys to it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.app.build_backoffice import RecordSource, build_admin_services, record_source
from gateway.cli.console import Terminal
from gateway.config.reading import ConfigError, read_settings
from gateway.config.settings import Settings
from gateway.operations.accounts.accounts import AccountRecords, CompanyRecords
from gateway.operations.accounts.credentials import CredentialRecords
from gateway.operations.backoffice.reviews import PayoutReviews
from gateway.operations.backoffice.scoped_records import AdminServices
from gateway.operations.backoffice.stops import KillSwitches
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation
from gateway.operations.payouts.records import PayoutRecords
from gateway.runtime.audit_log import audit_keys
from gateway.runtime.process import wall_clock
from gateway.runtime.providers import ConnectedBanks, Connection
from gateway.security.keys import Keys, load_keys
from gateway.security.sealing import SealBroken, Sealer
from gateway.store.engine import Store, open_store
from gateway.store.kernel.chain import UNSEALED
from gateway.store.schema import StoreRefused, prepare, refuse_unsafe_sqlite

if TYPE_CHECKING:
    from gateway.app.build_identity import People

_SIMILAR_S = 600.0
"""Payouts within ten minutes count as similar where the configuration does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminContext:
    """An opened store and everything an administrator does with it."""

    settings: Settings
    store: Store
    keys: Keys
    acting: AuditContext

    @property
    def source(self) -> RecordSource:
        """Where ids and secrets of new records come from."""
        return record_source(self.keys)

    @property
    def admin(self) -> AdminServices:
        """The registers, written in the name of who typed the command."""
        return build_admin_services(self.settings, self.store, self.source, self.acting)

    @property
    def payouts(self) -> PayoutRecords:
        """The payouts; similar ones are told even where nothing is done about them."""
        within_s = self.settings.payouts.similar_within_s or _SIMILAR_S
        return PayoutRecords(
            payouts=self.store.payouts,
            follow_ups=self.store.follow_ups,
            reviews=self.store.reviews,
            returns=self.store.returns,
            similar_within=timedelta(seconds=within_s),
        )

    @property
    def companies(self) -> CompanyRecords:
        """The companies."""
        return self.admin.companies

    @property
    def accounts(self) -> AccountRecords:
        """The accounts."""
        return self.admin.accounts

    @property
    def credentials(self) -> CredentialRecords:
        """The credentials."""
        return self.admin.credentials

    @property
    def reviews(self) -> PayoutReviews:
        """The payouts in review."""
        return self.admin.reviews

    @property
    def stops(self) -> KillSwitches:
        """The kill switches."""
        return self.admin.stops


def settings_of(file: Path) -> Settings:
    """
    Read the configuration.

    Raises:
        RuleViolation: when it cannot be used, in one line.
    """
    try:
        return read_settings(file, os.environ)
    except OSError as problem:
        message = f"{file} cannot be read: {problem.strerror}"
        raise RuleViolation(message) from problem
    except ConfigError as problem:
        first, *others = problem.problems
        more = f" (and {len(others)} more: see `pixgate config check`)" if others else ""
        message = f"{file}: {first}{more}"
        raise RuleViolation(message) from problem


def keys_of(settings: Settings) -> Keys:
    """
    Load the keys; the sandbox's own are made the first time.

    Raises:
        RuleViolation: they are missing, or of no use.
    """
    try:
        return load_keys(settings)
    except ConfigError as problem:
        raise RuleViolation(problem.problems[0]) from problem


@asynccontextmanager
async def opened_store(
    settings: Settings, *, migrate: bool, keys: Keys | None = None
) -> AsyncIterator[Store]:
    """
    Open the store, make sure that it is ours, and close it in the end.

    Without ``keys`` nothing can be done there that the audit log keeps.

    Raises:
        RuleViolation: it is of another environment or schema, or must not be used.
        StoreUnavailable: it does not answer.
    """
    url, now = settings.store_url, wall_clock(settings.environment, os.environ)
    try:
        refuse_unsafe_sqlite(
            settings.environment, url, allowed=settings.database.allow_sqlite_in_production
        )
        chain = audit_keys(keys) if keys is not None else UNSEALED
        store = open_store(url, chain=chain)
    except (StoreRefused, ValueError) as problem:
        raise RuleViolation(str(problem)) from problem
    try:
        await prepare(store, settings.environment, migrate=migrate, now=now)
        yield store
    except StoreRefused as problem:
        raise RuleViolation(str(problem)) from problem
    finally:
        await store.close()


@asynccontextmanager
async def opened(terminal: Terminal) -> AsyncIterator[AdminContext]:
    """
    Open everything an administrative command needs; raises as ``opened_store`` does.

    The embedded default is migrated on the way, and an audit log without a seal
    is sealed, as ``serve`` would do it.
    """
    settings = settings_of(terminal.config)
    keys = keys_of(settings)
    async with opened_store(settings, migrate=settings.migrates, keys=keys) as store:
        now = wall_clock(settings.environment, os.environ)
        await store.audit.seal(now())
        acting = AuditContext(terminal.actor, now)
        yield AdminContext(settings=settings, store=store, keys=keys, acting=acting)


@asynccontextmanager
async def opened_people(terminal: Terminal) -> AsyncIterator[People]:
    """Open the store and identity over it; nothing runs in the background. Raises as ``opened``."""
    from gateway.app.build_identity import build_identity

    async with opened(terminal) as office:
        people = build_identity(office.settings, office.store, office.keys, office.acting.now)
        try:
            yield people
        finally:
            await people.close()


@asynccontextmanager
async def reached(office: AdminContext) -> AsyncIterator[ConnectedBanks]:
    """
    Open the adapters of every configured provider, and close them in the end.

    Raises:
        RuleViolation: an adapter does not take its settings, or an account's
            credentials cannot be opened under the keys of now.
    """
    settings = office.settings
    async with AsyncExitStack() as opened:
        connections = {name: _connected(name, settings) for name in settings.providers}
        for name, connection in connections.items():
            await _started(name, connection)
            opened.push_async_callback(connection.adapter.close)
        yield ConnectedBanks(connections, _unsealing(office.keys.sealer))


def _connected(name: str, settings: Settings) -> Connection:
    """Make one adapter, under the limits that serving has too."""
    from gateway.app.build_bank import connect
    from gateway.cli.config.probes import Silent
    from provider_adapters.kit.factory import AdapterRefused

    try:
        return connect(name, settings, Silent())
    except AdapterRefused as problem:
        raise RuleViolation(str(problem)) from problem


async def _started(name: str, connection: Connection) -> None:
    """Start one adapter."""
    from gateway.app.build_bank import start
    from provider_adapters.kit.factory import AdapterRefused

    try:
        await start(name, connection)
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
