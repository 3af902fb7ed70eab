"""What commands work on: the configuration, and the store with the keys to it."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from gateway.app.audit_keys import audit_keys
from gateway.cli.console import Terminal
from gateway.config.reading import ConfigError, read_settings
from gateway.config.settings import Settings
from gateway.operations.accounts.accounts import AccountRecords
from gateway.operations.accounts.companies import CompanyRecords
from gateway.operations.accounts.credentials import CredentialRecords, CredentialSource
from gateway.operations.backoffice.reviews import PayoutReviews
from gateway.operations.backoffice.stops import KillSwitches, Subjects
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation
from gateway.operations.payouts.records import PayoutRecords
from gateway.runtime.wall_clock import wall_clock
from gateway.security.keys import Keys, load_keys
from gateway.security.secrets import new_client_id, new_client_secret
from gateway.store.engine import Store, open_store
from gateway.store.kernel.chain import UNSEALED
from gateway.store.stamp import StoreRefused, prepare, refuse_unsafe_sqlite

_SIMILAR_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """An opened store and everything an administrator does with it."""

    settings: Settings
    store: Store
    keys: Keys
    acting: AuditContext

    @property
    def source(self) -> CredentialSource:
        """Where credentials come from."""
        return CredentialSource(
            client_id=partial(new_client_id, os.urandom),
            client_secret=partial(new_client_secret, os.urandom),
            digest=self.keys.digester.digest,
        )

    @property
    def companies(self) -> CompanyRecords:
        """The register of companies."""
        return CompanyRecords(companies=self.store.companies, acting=self.acting, new_id=new_id)

    @property
    def accounts(self) -> AccountRecords:
        """The register of accounts."""
        return AccountRecords(
            companies=self.store.companies,
            accounts=self.store.accounts,
            acting=self.acting,
            new_id=new_id,
            seal=self.keys.sealer.seal,
            providers=self.settings.providers,
            alphanumeric_cnpj=self.settings.validation.alphanumeric_cnpj,
        )

    @property
    def credentials(self) -> CredentialRecords:
        """The register of credentials."""
        return CredentialRecords(
            companies=self.store.companies,
            accounts=self.store.accounts,
            credentials=self.store.credentials,
            acting=self.acting,
            source=self.source,
        )

    @property
    def payouts(self) -> PayoutRecords:
        """The payouts; similar ones are told even where nothing is done about them."""
        within_s = self.settings.payouts.similar_within_s or _SIMILAR_S
        return PayoutRecords(
            payouts=self.store.payouts,
            follow_ups=self.store.follow_ups,
            reviews=self.store.reviews,
            similar_within=timedelta(seconds=within_s),
        )

    @property
    def reviews(self) -> PayoutReviews:
        """Where payouts in review are decided."""
        return PayoutReviews(
            payouts=self.store.payouts,
            follow_ups=self.store.follow_ups,
            reviews=self.store.reviews,
            acting=self.acting,
        )

    @property
    def stops(self) -> KillSwitches:
        """The register of stops."""
        subjects = Subjects(
            providers=self.settings.providers,
            companies=self.store.companies,
            accounts=self.store.accounts,
            credentials=self.store.credentials,
        )
        return KillSwitches(
            stops=self.store.stops, subjects=subjects, acting=self.acting, new_id=new_id
        )


def new_id() -> str:
    """Make a UUID."""
    return str(uuid.uuid4())


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
async def opened(terminal: Terminal) -> AsyncIterator[Office]:
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
        yield Office(settings=settings, store=store, keys=keys, acting=acting)
