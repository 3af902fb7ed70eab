"""The two listeners: the public one, and the one for operations."""

from __future__ import annotations

from importlib.metadata import version

from gateway.app.build_telemetry import Telemetry, refusals_below
from gateway.app.surfaces import ProcessContext, make_surfaces
from gateway.config.reading import ConfigError
from gateway.config.settings import Settings
from gateway.http.ops.surface import OpsParts, OpsSurface
from gateway.http.pages import openapi_pages
from gateway.http.server import Admission, Server, Serving
from gateway.http.table import Table, check_surfaces
from gateway.net.server.listener import Address, Listener
from gateway.net.server.peer import ServerLimits
from gateway.runtime.failpoints import failing_replies
from gateway.runtime.readiness import Readiness
from gateway.telemetry.ports import Gauge


def public_listener(parts: ProcessContext, observing: Telemetry) -> Listener:
    """
    Make the public listener.

    Raises:
        ConfigError: a row must not be served as it stands (see ``check_surfaces``).
    """
    settings = parts.settings
    surfaces = make_surfaces(parts)
    problems = check_surfaces(surfaces)
    if problems:
        raise ConfigError(*problems)
    serving = Serving(
        table=Table(surfaces),
        pages=openapi_pages(surfaces) if settings.server.openapi else {},
        admission=_admission(settings, observing),
        observer=observing.observer,
        body_deadline_s=settings.server.body_deadline_s,
        uuid_traces=settings.trace.accept == "uuid",
    )
    server = settings.server
    serve = Server(serving).answer
    return Listener(
        failing_replies(serve, parts.failpoint) if parts.failpoint else serve,
        at=Address(host=server.host, port=server.port, reuse_port=server.reuse_port),
        limits=_server_limits(settings),
        refusals=refusals_below(observing.observer),
    )


def _admission(settings: Settings, observing: Telemetry) -> Admission:
    """Say when to shed, and show how much is going on."""
    admission = Admission(
        most=settings.limits.in_flight,
        longest_lag_s=settings.limits.loop_lag_s,
        lag_s=observing.lag.p95_s,
        count=observing.observer.count,
    )
    show = observing.observer.show
    observing.sampled.append(lambda: show(Gauge.REQUESTS_IN_FLIGHT, admission.in_flight))
    return admission


def _server_limits(settings: Settings) -> ServerLimits:
    """Say what a connection may take."""
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
        trusted_peers=server.trusted_networks,
        client_address=server.client_address,
        certificate_header=server.certificate_header,
    )


def operations_listener(settings: Settings, observing: Telemetry, readiness: Readiness) -> Listener:
    """Make the operations listener."""
    surface = OpsSurface(
        OpsParts(
            ready=readiness.checks,
            draining=lambda: readiness.draining,
            metrics=observing.values,
            config_digest=observing.digest,
            version=version("pixgate"),
        )
    )
    return Listener(surface.answer, at=Address(host=settings.admin.host, port=settings.admin.port))
