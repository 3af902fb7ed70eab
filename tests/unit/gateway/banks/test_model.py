"""Calls to banks, added up."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec import UNSET

from gateway.banks.model import LENGTH, STEP, WELL, Calls, ProviderMinute, WeatherWindow
from gateway.store.tables.figures import CALL_BOUNDS_S, PLACES
from gateway.telemetry.metrics import series

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


def minute(calls: int, ok: int, place: int = 0) -> ProviderMinute:
    took = [0] * PLACES
    took[place] = calls
    return ProviderMinute(
        provider="p",
        operation="get_balance",
        minute=AT,
        calls=calls,
        ok=ok,
        last_failure="",
        took=took,
    )


def test_duration_bounds_and_outcomes_match_the_metrics():
    """They are read from the metrics' own cells."""
    assert series.PROVIDER_DURATION.bounds == CALL_BOUNDS_S
    assert set(series.PROVIDER_OUTCOME.values or ()) >= WELL


def test_every_window_is_a_multiple_of_its_step():
    wrong = [window for window in WeatherWindow if LENGTH[window] % STEP[window]]

    assert wrong == []


def test_without_calls_there_are_no_figures():
    assert Calls().figures() == {"calls": 0, "success": UNSET, "p95_s": UNSET}


def test_minutes_are_added_up():
    calls = Calls()
    for each in (minute(3, 3), minute(1, 0)):
        calls.add(each)

    assert (calls.figures()["success"], calls.took[0]) == (0.75, 4)


@pytest.mark.parametrize(("place", "seconds"), [(0, 0.0002), (10, 0.4875), (PLACES - 1, 30.0)])
def test_p95_is_within_its_bucket(place: int, seconds: float):
    """Beyond the last bound nothing more is known."""
    calls = Calls()
    calls.add(minute(100, 100, place))

    assert calls.figures()["p95_s"] == seconds
