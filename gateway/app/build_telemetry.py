"""Builds the process's telemetry: metrics, log lines, event-loop lag."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from gateway.app.gauges import MeasuredLag
from gateway.banks.port.capabilities import PortCall
from gateway.config.build import built_from
from gateway.config.effective import config_digest
from gateway.config.settings import RateLimits, Settings
from gateway.core.catalogue import ErrorCode
from gateway.core.clocks import Now
from gateway.http.documents import PAGES
from gateway.http.panel.static import NAME as STATIC
from gateway.http.route import Surface
from gateway.net.server.refusals import Refusals
from gateway.telemetry.logs.lines import LineBuffer
from gateway.telemetry.logs.setup import Logs
from gateway.telemetry.logs.writer import LineWriter, to_descriptor, without_waiting
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import Vocabulary
from gateway.telemetry.metrics.registry import Instance, MetricRegistry
from gateway.telemetry.observer import TelemetryObserver
from gateway.telemetry.records import AccessRecord, RequestObserver


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """
    The telemetry of a process; ``writer`` is started first and stopped last, ``lines`` next to it.

    Attributes:
        writer: Writes to standard output, which may block.
        lines: Where log lines are collected; started with the event loop.
    """

    writer: LineWriter
    lines: LineBuffer
    logs: Logs
    values: MetricRegistry
    observer: TelemetryObserver
    lag: MeasuredLag
    digest: str

    def take(self, settings: Settings) -> None:
        """Log at another level, under the name in the current configuration."""
        digest = config_digest(settings)
        self.logs.change_level(settings.telemetry.level.upper())
        self.observer.change_digest(digest)
        self.values.change_digest(digest)


def build_telemetry(settings: Settings, now: Now, surfaces: Sequence[Surface]) -> Telemetry:
    """Build the telemetry for the configured routes and providers."""
    number = sys.stdout.fileno()
    writer = LineWriter(to_descriptor(number), without_waiting(number))
    lines = LineBuffer(writer.put)
    digest = config_digest(settings)
    values = _metrics(settings, surfaces, digest)
    always = {"config_digest": digest, "worker": str(os.getpid())}
    level = settings.telemetry.level.upper()
    values.child(series.LOOK_FIRST).set(settings.payouts.look_first)
    lost = writer.lost
    values.read(series.LOG_LINES_LOST, lambda: {(why,): lost[why] for why in ("failed", "full")})
    return Telemetry(
        writer=writer,
        lines=lines,
        logs=Logs(lines, now=now, monotonic=time.monotonic, level=level),
        values=values,
        observer=TelemetryObserver(values, lines, now, always),
        lag=MeasuredLag(values.child(series.EVENT_LOOP_LAG).observe, time.monotonic),
        digest=digest,
    )


def refusals_below(observer: RequestObserver, links: Mapping[str, str]) -> Refusals:
    """
    Record the listener's refusals in the same form as the application's.

    ``links`` are the ``Link`` headers to the pages of error codes, by code.
    """

    def note(error: ErrorCode, trace_id: str) -> None:
        observer.request(
            AccessRecord(trace_id=trace_id, status=error.status, code=error.code, reason="wire")
        )

    return Refusals(on_refusal=note, links=links)


def _metrics(settings: Settings, surfaces: Sequence[Surface], digest: str) -> MetricRegistry:
    """Create the metrics, with every possible label value."""
    gates = [gate for surface in surfaces for gate in surface.gates]
    routes = frozenset(route.name for gate in gates for route in gate.routes) | {*PAGES, STATIC}
    instance = Instance(
        version=version("pixgate"),
        commit=built_from(),
        environment=settings.environment.value,
        config_digest=digest,
        routes=len(routes),
        policies=sum(len(gate.policies) for gate in gates),
        providers=len(settings.providers),
    )
    vocabulary = Vocabulary(
        surface=frozenset(surface.name for surface in surfaces),
        route=routes,
        provider=frozenset(settings.providers),
        operation=frozenset(PortCall),
        policy=frozenset(RateLimits.__struct_fields__),
    )
    return MetricRegistry(instance, vocabulary)
