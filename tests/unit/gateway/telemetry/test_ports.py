"""The events and gauges of the metrics port."""

from datetime import UTC, datetime

from gateway.telemetry.logs.lines import LineBuffer
from gateway.telemetry.metrics.registry import MetricRegistry
from gateway.telemetry.observer import TelemetryObserver
from gateway.telemetry.ports import Event, Gauge
from tests.world.metrics import INSTANCE, WORDS


def test_every_event_and_gauge_has_its_series():
    """One without a series would fail the request that counts or shows it."""
    lines = LineBuffer(lambda _lines: None)
    observer = TelemetryObserver(
        MetricRegistry(INSTANCE, WORDS), lines, lambda: datetime(2026, 11, 20, tzinfo=UTC), {}
    )

    for event in Event:
        observer.count(event, "sandbox.get_balance")
    for gauge in Gauge:
        observer.show(gauge, 1.0)
