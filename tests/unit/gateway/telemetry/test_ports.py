"""The events and gauges of the metrics port."""

from gateway.telemetry.metrics import series
from gateway.telemetry.ports import Gauge


def test_each_reason_to_turn_a_connection_away_has_a_gauge():
    """The listener names the reason; the gauge's name is made of it."""
    told = {name.partition(".")[2] for name in Gauge if name.startswith("turned_away.")}

    assert told == set(series.TURNED_AWAY.values or ())
