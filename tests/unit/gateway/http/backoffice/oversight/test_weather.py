"""The rows of the weather at banks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.domain.backoffice.weather import PLACES, Calls, LastFailure, WeatherWindow
from gateway.http.backoffice.oversight.weather import weather
from gateway.operations.backoffice.figures.weather import Weather
from tests.unit.gateway.http.backoffice.surface import line

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "path"),
    [("weather", "/weather"), ("provider_weather", "/providers/{provider}/weather")],
)
def test_the_rows(name: str, path: str):
    assert line(name) == ("GET", path, "provider:read", 200)


def test_what_is_not_known_is_absent():
    """Of a step without calls nothing is said but that there were none."""
    took = [4, *[0] * (PLACES - 1)]
    found = Weather(
        provider="ipe",
        window=WeatherWindow.QUARTER,
        since=AT,
        all=Calls(4, 3, took),
        steps={AT: Calls()},
        operations={"get_balance": Calls(4, 3, took)},
        last_failure=LastFailure("ipe", "get_balance", AT, "timeout"),
    )

    document = weather(found)

    assert document["steps"] == [{"at": "2026-11-20T12:00:00Z", "calls": 0}]
    assert document["by_operation"] == [
        {"operation": "get_balance", "calls": 4, "success": 0.75, "p95_s": 0.0002}
    ]
    assert (document["success"], document["last_failure"]) == (0.75, "timeout")
