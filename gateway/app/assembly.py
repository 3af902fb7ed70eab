"""
The assembly: every part from the configuration.

The only place that knows concrete stores and adapters. Nothing is opened but
the store's engine; ``running`` starts and stops what was made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gateway.app.background import Background
from gateway.app.build_backoffice import BackOfficeParts
from gateway.app.build_bank import connect
from gateway.app.build_callbacks import listener_of, make_addresses, make_reception
from gateway.app.build_identity import People, build_identity
from gateway.app.build_panel import Panel, build_panel
from gateway.app.build_telemetry import Telemetry, build_telemetry
from gateway.app.listeners import operations_listener, public_listener
from gateway.app.surfaces import ProcessContext, described_surfaces
from gateway.config.checks import check
from gateway.config.reading import ConfigError
from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Environment
from gateway.domain.kernel.clocks import Now
from gateway.http.ops.surface import check_ops_address
from gateway.net.common.runtime import Runtime
from gateway.net.server.listener import Listener
from gateway.operations.identity.ports import IdentityEvents
from gateway.runtime.audit_log import AuditTally, audit_keys
from gateway.runtime.caches.cache import ConfiguredCache, build_cache
from gateway.runtime.failpoints import armed
from gateway.runtime.gauges import connection_gauges
from gateway.runtime.periodic_task import PeriodicTask
from gateway.runtime.process import wall_clock
from gateway.runtime.providers import ConnectedBanks, Connection, ProviderHealth
from gateway.runtime.readiness import Readiness
from gateway.runtime.records.kept_records import (
    KeptRecords,
    LastUses,
    StoredSources,
    build_kept_records,
)
from gateway.security.keys import Keys, load_keys
from gateway.security.secrets import has_valid_checksum
from gateway.store.engine import Store, open_store
from gateway.store.kernel.database import Limits
from gateway.telemetry.logs.events import SecurityLog
from policies.authentication.basic import SecretCheck
from provider_adapters.registry import names

if TYPE_CHECKING:
    from provider_adapters.sandbox.bank.callbacks import CallbackListener
    from provider_adapters.sandbox.bank.server import SandboxBank


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """
    Everything that was made, ready to be started.

    Attributes:
        bank: The sandbox bank that lives in this process; None elsewhere.
    """

    settings: Settings
    now: Now
    store: Store
    keys: Keys
    connections: Mapping[str, Connection]
    people: People
    panel: Panel
    cache: ConfiguredCache
    observing: Telemetry
    readiness: Readiness
    tasks: Sequence[PeriodicTask]
    public: Listener
    operations: Listener
    bank: SandboxBank | None


def assemble(settings: Settings, environ: Mapping[str, str], *, with_bank: bool = True) -> Gateway:
    """
    Make every part.

    Args:
        settings: Checked for form; what contradicts itself is refused here.
        environ: The process's environment, for the sandbox's test handles.
        with_bank: False leaves the embedded sandbox bank to another process.

    Raises:
        ConfigError, AdapterRefused, ValueError: the configuration cannot be used.
        StoreUnavailable: the store's file or folder cannot be made.
    """
    _refuse_contradictions(settings)
    now = wall_clock(settings.environment, environ)
    keys = load_keys(settings)
    store = open_store(settings.store_url, _limits(settings), audit_keys(keys))
    observing = build_telemetry(settings, now, described_surfaces(settings))
    failpoint = armed(settings.environment, environ)
    health = ProviderHealth(observing.observer, now)
    runtime = Runtime(now=now, failpoint=failpoint)
    connections = {name: connect(name, settings, health, runtime) for name in settings.providers}
    uses = LastUses(store.credentials, now)
    readiness = Readiness(store)
    security, bell = SecurityLog(observing.observer.count), asyncio.Event()
    tally = AuditTally(store.audit, store.identity.users, now)
    people = build_identity(settings, store, keys, now, _events(security, tally))
    panel = build_panel(settings.session, store, keys, people)
    kept = _kept_records(settings, store, people, observing, now)
    cache = build_cache(settings, keys.derivation, observing.observer.count)
    parts = ProcessContext(
        settings=settings,
        kept=kept,
        payouts=store.payouts,
        returns=store.returns,
        banks=ConnectedBanks(connections, keys.sealer.open),
        people=people,
        panel=panel,
        backoffice=BackOfficeParts(
            settings=settings,
            store=store,
            keys=keys,
            now=now,
            providers=lambda: health.known(connections),
        ),
        reception=make_reception(
            store.office.callbacks,
            make_addresses(
                settings,
                keys.derivation,
                {name: each.adapter for name, each in connections.items()},
            ),
            now,
            security.count,
            bell.set,
        ),
        check=_secret_check(keys, uses, now),
        observer=observing.observer,
        cache=cache,
        count=security.count,
        now=now,
        failpoint=failpoint,
    )
    public = public_listener(parts, observing)
    store.database.usage.on_usage = observing.observer.stored
    observing.sampled.append(
        connection_gauges(observing.observer.show, public, store.database.usage)
    )
    background = Background(store=store, parts=parts, telemetry=observing, tally=tally)
    return Gateway(
        settings=settings,
        now=now,
        store=store,
        keys=keys,
        connections=connections,
        people=people,
        panel=panel,
        cache=cache,
        observing=observing,
        readiness=readiness,
        tasks=(*background.tasks(bell), uses.task),
        public=public,
        operations=operations_listener(settings, observing, readiness),
        bank=_bank(settings, now, keys, public) if with_bank else None,
    )


def _refuse_contradictions(settings: Settings) -> None:
    """Refuse settings that are well-formed one by one and wrong together."""
    problems = check(settings, names())
    if problems:
        raise ConfigError(*map(str, problems))
    check_ops_address(settings.admin.host, allow_public=settings.admin.allow_public)


def _limits(settings: Settings) -> Limits:
    """Say how long the store is waited for."""
    database = settings.database
    return Limits(
        pool_size=database.pool,
        checkout_s=database.timeout_s,
        connect_s=database.timeout_s,
        statement_s=database.timeout_s,
    )


def _kept_records(
    settings: Settings, store: Store, people: People, observing: Telemetry, now: Now
) -> KeptRecords:
    """Make what is kept of the store, told of every change that this process makes."""
    sources = StoredSources(
        credentials=store.credentials,
        accounts=store.accounts,
        stops=store.stops,
        keyring=people.keyring,
    )
    kept = build_kept_records(settings, sources, observing.observer, now)
    store.database.followers.append(kept.changed_here)
    return kept


def _events(security: SecurityLog, tally: AuditTally) -> IdentityEvents:
    """Report sign-ins in the log at once, in the audit log once a minute, and in the metrics."""

    def on_security_event(word: str, user_id: str) -> None:
        security.on_event(word, user_id)
        tally.on_event(word, user_id)

    return IdentityEvents(on_security_event, security.count)


def _secret_check(keys: Keys, uses: LastUses, now: Now) -> SecretCheck:
    """Say how secrets are compared."""
    digester = keys.digester
    return SecretCheck(
        well_formed=has_valid_checksum,
        matching=partial(digester.matching, now=now),
        used=uses.note,
    )


def _told(settings: Settings, keys: Keys, public: Listener) -> CallbackListener | None:
    """Say where the embedded bank tells us of what happens: at the port that was taken."""
    return listener_of(
        settings, keys.derivation, lambda: f"http://{settings.server.host}:{public.port}"
    )


def _bank(settings: Settings, now: Now, keys: Keys, public: Listener) -> SandboxBank | None:
    """Make the embedded sandbox bank, where it is asked for; never in production."""
    bank = settings.sandbox_bank
    if settings.environment is not Environment.SANDBOX or not bank.start:
        return None
    from provider_adapters.sandbox.bank.server import SandboxBank  # noqa: PLC0415 - 1 MB, rarely used

    return SandboxBank(
        db_path=str(settings.bank_file),
        host=bank.host,
        port=bank.port,
        control_port=bank.control_port,
        settle_after_s=bank.settle_after_s,
        now=now,
        listener=_told(settings, keys, public),
    )
