"""
The assembly: every part from the configuration.

The only place that knows concrete stores and adapters. Nothing is opened but
the store's engine; ``running`` starts and stops what was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from gateway.app.banks import ConnectedBanks, Connection, limits_of
from gateway.app.clocks import wall_clock
from gateway.app.lookups import LastUses
from gateway.app.observing import Observing, make_observing, refusals_below
from gateway.app.readiness import Readiness
from gateway.app.surfaces import Parts, described_surfaces, make_surfaces
from gateway.config.checks import check
from gateway.config.reading import ConfigError
from gateway.config.settings import Settings
from gateway.domain.accounts import Environment
from gateway.domain.clocks import Now
from gateway.http.admission import Admission
from gateway.http.ops.surface import OpsParts, check_ops_address, ops_application
from gateway.http.pages import openapi_pages
from gateway.http.server import Server, Serving
from gateway.http.table import Table
from gateway.http.wire.limits import WireLimits
from gateway.http.wire.listener import Address, Listener
from gateway.security.keys import Keys, load_keys
from gateway.security.secrets import has_valid_checksum
from gateway.store.database import Limits
from gateway.store.engine import Store, open_store
from gateway.telemetry.records import Observer
from policies.authentication.basic import SecretCheck
from provider_adapters.registry import find, names
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
    observing: Observing
    uses: LastUses
    readiness: Readiness
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
    problems = check(settings, names())
    if problems:
        raise ConfigError(*map(str, problems))
    check_ops_address(settings.admin.host, allow_public=settings.admin.allow_public)
    now = wall_clock(settings.environment, environ)
    keys = load_keys(settings)
    store = open_store(settings.store_url, _limits(settings))
    observing = make_observing(settings, now, described_surfaces(settings))
    connections = _connections(settings, observing.observer)
    uses = LastUses(store.credentials, now)
    readiness = Readiness(store)
    parts = Parts(
        settings=settings,
        credentials=store.credentials,
        accounts=store.accounts,
        payouts=store.payouts,
        banks=ConnectedBanks(connections, keys.sealer.open),
        check=_secret_check(keys, uses, now),
        observer=observing.observer,
        now=now,
    )
    return Gateway(
        settings=settings,
        now=now,
        store=store,
        keys=keys,
        connections=connections,
        observing=observing,
        uses=uses,
        readiness=readiness,
        public=_public(parts, observing),
        operations=_operations(settings, observing, readiness),
        bank=_bank(settings, now) if with_bank else None,
    )


def _limits(settings: Settings) -> Limits:
    """Say how long the store is waited for."""
    database = settings.database
    return Limits(
        pool_size=database.pool,
        checkout_s=database.timeout_s,
        connect_s=database.timeout_s,
        statement_s=database.timeout_s,
    )


def _connections(settings: Settings, observer: Observer) -> dict[str, Connection]:
    """Make the adapter of every configured provider."""
    return {name: _connection(name, settings, observer) for name in settings.providers}


def _connection(name: str, settings: Settings, observer: Observer) -> Connection:
    """Make one adapter; those of ours take the provider's limits among their settings."""
    provider = settings.providers[name]
    factory = find(provider.adapter)
    given = dict(provider.settings)
    if "limits" in factory.settings.__struct_fields__:
        given.setdefault("limits", limits_of(provider))
    adapter = factory(name, given, settings.environment, observer)
    return Connection(adapter, provider.read_only)


def _secret_check(keys: Keys, uses: LastUses, now: Now) -> SecretCheck:
    """Say how secrets are compared."""
    digester = keys.digester
    return SecretCheck(
        well_formed=has_valid_checksum,
        matching=lambda secret, digests: digester.matching(secret, digests, now()),
        used=uses.note,
    )


def _public(parts: Parts, observing: Observing) -> Listener:
    """Make the public listener."""
    settings = parts.settings
    surfaces = make_surfaces(parts)
    serving = Serving(
        table=Table(surfaces),
        pages=openapi_pages(surfaces[0]) if settings.server.openapi else {},
        admission=_admission(settings, observing),
        observer=observing.observer,
        body_deadline_s=settings.server.body_deadline_s,
        uuid_traces=settings.trace.accept == "uuid",
    )
    server = settings.server
    return Listener(
        Server(serving).handle,
        at=Address(host=server.host, port=server.port, reuse_port=server.reuse_port),
        limits=_wire_limits(settings),
        refusals=refusals_below(observing.observer),
    )


def _admission(settings: Settings, observing: Observing) -> Admission:
    """Say when to shed, and show how much is going on."""
    admission = Admission(
        most=settings.limits.in_flight,
        longest_lag_s=settings.limits.loop_lag_s,
        lag_s=observing.lag.p95_s,
        seen=observing.observer.count,
    )
    show = observing.observer.show
    observing.sampled.append(lambda: show("requests_in_flight", admission.in_flight))
    return admission


def _wire_limits(settings: Settings) -> WireLimits:
    """Say what a connection may take."""
    server = settings.server
    return WireLimits(
        request_line_bytes=server.request_line_bytes,
        header_line_bytes=server.header_line_bytes,
        headers=server.headers,
        header_deadline_s=server.header_deadline_s,
        body_deadline_s=server.body_deadline_s,
        keepalive_s=server.keep_alive_s,
        connections_per_address=server.connections_per_address,
        connections=server.connections,
    )


def _operations(settings: Settings, observing: Observing, readiness: Readiness) -> Listener:
    """Make the operations listener."""
    application = ops_application(
        OpsParts(
            ready=readiness.checks,
            metrics=observing.values,
            config_digest=observing.digest,
            version=version("pixgate"),
        )
    )
    return Listener(application, at=Address(host=settings.admin.host, port=settings.admin.port))


def _bank(settings: Settings, now: Now) -> SandboxBank | None:
    """Make the embedded sandbox bank, where it is asked for; never in production."""
    bank = settings.sandbox_bank
    if settings.environment is not Environment.SANDBOX or not bank.start:
        return None
    return SandboxBank(
        db_path=str(settings.bank_file),
        host=bank.host,
        port=bank.port,
        control_port=bank.control_port,
        settle_after_s=bank.settle_after_s,
        now=now,
    )
