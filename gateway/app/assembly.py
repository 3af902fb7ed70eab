"""
The assembly: builds every part from the configuration, and the two listeners in front.

Only this module imports concrete stores and adapters. It opens nothing but the store's engine;
``running`` starts and stops the parts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version

from gateway.app.background import Role, build_role, periodic_tasks
from gateway.app.banks import connect
from gateway.app.build_identity import build_identity
from gateway.app.build_payouts import night_of
from gateway.app.build_telemetry import Telemetry, build_telemetry, refusals_below
from gateway.app.build_tracing import (
    build_tracing,
    traced_calls,
    traced_gates,
    traced_requests,
    traced_store,
)
from gateway.app.cache import build_cache, build_limits
from gateway.app.failpoints import armed, failing_answers
from gateway.app.gauges import show_connections
from gateway.app.kernel import Kernel
from gateway.app.readiness import Readiness
from gateway.app.sandbox import SandboxBank, build_bank
from gateway.app.services import Services
from gateway.app.store import Store, open_store
from gateway.app.store_check import StoreCheck
from gateway.app.surfaces import build_surfaces, described_surfaces
from gateway.audit.log import AuditTally, audit_keys
from gateway.banks.connections import ConfiguredProvider
from gateway.banks.health import ProviderHealth
from gateway.config.checks import check
from gateway.config.effective import config_digest
from gateway.config.reading import ConfigError
from gateway.config.settings import Settings
from gateway.core.account import Environment
from gateway.core.clocks import Now
from gateway.core.priority import Priority
from gateway.http.admission import Admission
from gateway.http.documents import ReadyMade, openapi_pages
from gateway.http.gates import PARTNER_PREFIX
from gateway.http.openapi.examples import ORIGIN as UNKNOWN_ORIGIN
from gateway.http.ops.surface import OpsSurface, check_ops_address
from gateway.http.panel.pages.templates import Templates
from gateway.http.panel.static import StaticFiles
from gateway.http.route import Surface
from gateway.http.server import Serving, application
from gateway.http.table import Table, check_surfaces
from gateway.identity.context import IdentityEvents
from gateway.identity.passwords import COST, Cost, PasswordHasher
from gateway.net.common.descriptors import callers_below, descriptor_limit
from gateway.net.common.runtime import Runtime
from gateway.net.server.listener import Address, Listener
from gateway.net.server.peer import ServerLimits
from gateway.payouts.store import EventSealing, StoredPayouts
from gateway.process.periodic_task import PeriodicTask
from gateway.process.process import ALONE, Part, clock_offset, wall_clock
from gateway.reference.open_page import open_page
from gateway.reference.site import absent_pages, error_links, read_site
from gateway.security.keys import Keys, load_keys
from gateway.store.kernel.clock import DatabaseClock
from gateway.store.kernel.database import DEFAULT_LIMITS, Limits
from gateway.telemetry.logs.events import SecurityLog
from gateway.telemetry.metrics import series
from provider_adapters.registry import names


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """
    All parts of a process, ready to be started.

    Attributes:
        role: Whether this process serves, does a worker's tasks, or both.
        bank: The sandbox bank that lives in this process; None elsewhere.
    """

    kernel: Kernel
    role: Role
    services: Services
    connections: Mapping[str, ConfiguredProvider]
    telemetry: Telemetry
    readiness: Readiness
    tasks: Sequence[PeriodicTask]
    public: Listener
    operations: Listener
    bank: SandboxBank | None


def assemble(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    with_bank: bool = True,
    part: Part = ALONE,
    cost: Cost = COST,
) -> Gateway:
    """
    Build every part.

    Args:
        settings: Checked for form; contradictions are refused here.
        environ: The process's environment, for the sandbox's test handles.
        with_bank: False leaves the embedded sandbox bank to another process.
        part: The process's role.
        cost: Cost of a password's digest; only tests use less.

    Raises:
        ConfigError, AdapterRefused, ValueError: the configuration cannot be used.
        StoreUnavailable: the store's file or folder cannot be made.
    """
    refuse_contradictions(settings, part)
    now = wall_clock(settings.environment, environ)
    keys = load_keys(settings)
    tracing = build_tracing(settings)
    store = traced_store(tracing, _open_store(settings, keys, now))
    telemetry = build_telemetry(settings, now, described_surfaces(settings))
    cache = build_cache(settings, keys.derivation, telemetry.observer.count)
    tally = AuditTally(store.audit, store.identity.users.find, now)
    clock = DatabaseClock(
        now,
        time.monotonic,
        settings.database.clock_tolerance_s,
        clock_offset(settings.environment, environ),
    )
    kernel = Kernel(
        settings=settings,
        store=store,
        keys=keys,
        now=now,
        observer=telemetry.observer,
        events=_events(SecurityLog(telemetry.observer.count), tally),
        shared=build_limits(keys.derivation, cache, telemetry.observer.count),
        failpoint=armed(settings.environment, environ),
        clock=clock,
        tracing=tracing,
    )
    kernel.reloads.append(telemetry.take)
    breakers = {name: each.breaker for name, each in settings.providers.items()}
    health, wake = ProviderHealth(telemetry.observer, now, breakers), asyncio.Event()
    runtime = Runtime(
        now=now,
        shared=kernel.shared,
        failpoint=kernel.failpoint,
        traced=traced_calls(tracing),
    )
    connections = {
        name: connect(name, settings, health, runtime, cache) for name in settings.providers
    }
    role = build_role(
        kernel,
        part,
        telemetry.values,
        StoreCheck(
            store=store,
            clock=clock,
            writes=kernel.writes,
            monotonic=kernel.monotonic,
            values=telemetry.values,
        ),
    )
    services = Services(
        kernel,
        connections,
        identity=build_identity(kernel, PasswordHasher(keys.password_peppers, cost)),
        cache=cache,
        known=partial(health.known, connections),
        unwritten=role.minutes.unwritten,
        wake=wake.set,
    )
    surfaces = build_surfaces(services)

    def origin() -> str:
        return settings.reached_at(public.port) or UNKNOWN_ORIGIN  # the port that was taken

    pages = _pages(kernel, surfaces, services.panel.static, origin)
    public = _public_listener(kernel, surfaces, pages, telemetry, services.panel.templates)
    readiness = Readiness(role.store_check, role.has_worker)

    def address() -> str:
        return f"http://{settings.server.host}:{public.port}"

    bank = build_bank(kernel, address, services.sandbox) if with_bank else None
    return Gateway(
        kernel=kernel,
        role=role,
        services=services,
        connections=connections,
        telemetry=telemetry,
        readiness=readiness,
        tasks=periodic_tasks(services, telemetry, tally, wake, role),
        public=public,
        operations=_operations_listener(kernel, telemetry, readiness),
        bank=bank,
    )


def _open_store(settings: Settings, keys: Keys, now: Now) -> Store:
    asked = settings.database
    limits = Limits(
        pool_size=asked.pool,
        checkout_s=asked.timeout_s,
        connect_s=asked.timeout_s,
        statement_s=asked.timeout_s,
        whole_s=max(DEFAULT_LIMITS.whole_s, 2 * asked.timeout_s),
    )
    facts = EventSealing(keys.derivation)
    store = open_store(settings.store_url, limits, audit_keys(keys), facts, now)
    return replace(store, payouts=StoredPayouts(store.database, night_of(settings)))


def refuse_contradictions(settings: Settings, part: Part) -> None:
    """
    Refuse settings that are valid one by one but contradict each other.

    Raises:
        ConfigError, ValueError: names the settings.
    """
    problems = check(settings, names(), serves=part.serves)
    if problems:
        raise ConfigError(*map(str, problems))
    check_ops_address(settings.admin.host, allow_public=settings.admin.allow_public)


def _pages(
    kernel: Kernel, surfaces: Sequence[Surface], static: StaticFiles, origin: Callable[[], str]
) -> Mapping[str, ReadyMade]:
    """Return the routes beside the API: the panel's files, the site, the OpenAPI documents."""
    server = kernel.settings.server
    pages: dict[str, ReadyMade] = {}
    if server.panel or server.openapi:
        pages |= static.pages
    if server.docs:
        pages |= read_site()
    if server.openapi:
        is_sandbox = kernel.settings.environment is Environment.SANDBOX
        pages |= openapi_pages(surfaces, lambda: kernel.now().date().isoformat(), origin)
        pages |= open_page(static.address, tries=is_sandbox)
    return pages


def _events(security: SecurityLog, tally: AuditTally) -> IdentityEvents:
    """Report sign-ins in the log at once, in the audit log once a minute, and in the metrics."""

    def on_security_event(word: str, user_id: str) -> None:
        security.on_event(word, user_id)
        tally.on_event(word, user_id)

    return IdentityEvents(on_security_event, security.count)


def _public_listener(
    kernel: Kernel,
    surfaces: Sequence[Surface],
    pages: Mapping[str, ReadyMade],
    telemetry: Telemetry,
    templates: Templates,
) -> Listener:
    """
    Make the public listener.

    Raises:
        ConfigError: a route must not be served as declared (see ``check_surfaces``).
    """
    settings = kernel.settings
    problems = check_surfaces(surfaces)
    if problems:
        raise ConfigError(*problems)
    server = settings.server
    links = error_links(pages)
    app = application(
        Serving(
            table=Table(traced_gates(kernel.tracing, surfaces)),
            pages=pages,
            admission=_admission(kernel, telemetry),
            observer=telemetry.observer,
            body_deadline_s=server.body_deadline_s,
            uuid_traces=settings.trace.accept == "uuid",
            begin=traced_requests(kernel.tracing),
            lane="" if kernel.failpoint else f"{PARTNER_PREFIX}/",
            links=links,
            absent=absent_pages() if server.docs else {},
            alter=failing_answers(kernel.failpoint) if kernel.failpoint else None,
        )
    )
    if server.panel:
        templates.set_up(app)
    listener = Listener(
        app,
        at=Address(host=server.host, port=server.port, reuse_port=server.reuse_port),
        limits=_server_limits(settings),
        refusals=refusals_below(telemetry.observer, links),
    )
    kernel.reloads.append(lambda settings: listener.change(_server_limits(settings)))
    usage = kernel.store.database.usage
    usage.on_usage = telemetry.observer.stored
    telemetry.lag.take_longest_wait = usage.take_longest_wait
    show_connections(telemetry.values, listener, usage)
    telemetry.values.child(series.STORE_LIMIT).set(settings.database.pool)
    return listener


def _admission(kernel: Kernel, telemetry: Telemetry) -> Admission:
    settings = kernel.settings
    admission = Admission(
        most=settings.limits.in_flight,
        longest_lag_s=settings.limits.loop_lag_s,
        lag=telemetry.lag,
        count=telemetry.observer.count,
    )

    def take(settings: Settings) -> None:
        """Apply new shedding limits from now on."""
        admission.change(settings.limits.in_flight, settings.limits.loop_lag_s)

    kernel.reloads.append(take)
    limited = [each for each in Priority if each is not Priority.ALWAYS]
    telemetry.values.read(
        series.REQUESTS_IN_FLIGHT,
        lambda: {(each.word,): admission.in_flight(each) for each in Priority},
    )
    telemetry.values.read(
        series.IN_FLIGHT_LIMIT, lambda: {(each.word,): admission.places[each] for each in limited}
    )
    return admission


def _server_limits(settings: Settings) -> ServerLimits:
    server = settings.server
    return ServerLimits(
        request_line_bytes=server.request_line_bytes,
        header_line_bytes=server.header_line_bytes,
        headers=server.headers,
        header_deadline_s=server.header_deadline_s,
        body_deadline_s=server.body_deadline_s,
        keepalive_s=server.keep_alive_s,
        connections_per_address=server.connections_per_address,
        connections=server.connections,
        descriptors=callers_below(descriptor_limit()),
        trusted_peers=server.trusted_networks,
        client_address=server.client_address,
        certificate_header=server.certificate_header,
    )


def _operations_listener(kernel: Kernel, telemetry: Telemetry, readiness: Readiness) -> Listener:
    settings = kernel.settings
    surface = OpsSurface(
        ready=readiness.checks,
        draining=lambda: readiness.draining,
        has_worker=readiness.has_worker,
        metrics=telemetry.values,
        config_digest=telemetry.digest,
        version=version("pixgate"),
    )
    kernel.reloads.append(lambda settings: surface.change_digest(config_digest(settings)))
    return Listener(
        surface.application(), at=Address(host=settings.admin.host, port=settings.admin.port)
    )
