"""How a bank is, in one word."""

import msgspec
import pytest

from gateway.banks.model import Weather, WeatherStep, WeatherWindow, status_of
from tests.unit.gateway.banks.samples import provider
from tests.world.standing import NOON


def weather(*steps: tuple[int, float, float], **figures: float) -> Weather:
    """Return the weather of a quarter of an hour: calls, success and p95 of its latest minutes."""
    some = [
        WeatherStep(at=NOON, calls=calls, success=success, p95_s=p95_s)
        for calls, success, p95_s in steps
    ]
    none = [WeatherStep(at=NOON, calls=0)] * (15 - len(some))
    return Weather(
        provider="p",
        window=WeatherWindow.QUARTER,
        since=NOON,
        last_failed_at=None,
        last_failed_operation="",
        last_failure="",
        calls=100,
        steps=[*none, *some],
        by_operation=[],
        **figures,
    )


NOTHING = (0, 0.0, 0.0)
WELL = (10, 1.0, 0.1)
FAILING = (10, 0.0, 0.1)
SLOW = (10, 1.0, 3.1)


@pytest.mark.parametrize(
    ("breakers", "steps", "figures", "word"),
    [
        ({}, [], {}, "idle"),
        ({"read": "open"}, [], {}, "down"),
        ({"read": "open"}, [WELL] * 3, {"success": 1.0}, "down"),
        ({}, [WELL, FAILING, FAILING], {"success": 0.99}, "down"),
        ({}, [(49, 1.0, 0.1), (1, 0.0, 0.1)], {"success": 1.0}, "unsteady"),
        ({"read": "closed"}, [FAILING, WELL, WELL, WELL], {"success": 0.75}, "well"),
        ({"read": "half_open"}, [WELL] * 3, {"success": 1.0}, "well"),
        ({}, [WELL, SLOW, SLOW], {"success": 1.0, "p95_s": 0.1}, "slow"),
        ({}, [SLOW, WELL, WELL, WELL], {"success": 1.0, "p95_s": 3.1}, "well"),
        ({}, [FAILING, NOTHING, NOTHING, NOTHING], {"success": 0.0}, "unsteady"),
        ({}, [WELL, NOTHING, NOTHING, NOTHING], {"success": 1.0, "p95_s": 3.1}, "slow"),
        ({}, [WELL, NOTHING, NOTHING, NOTHING], {"success": 1.0, "p95_s": 3.0}, "well"),
        ({"read": "half_open"}, [FAILING] + [NOTHING] * 3, {"success": 0.0}, "ready"),
        ({"read": "half_open"}, [FAILING] * 3, {"success": 0.0}, "down"),
    ],
)
def test_the_status_of_a_bank_follows_its_latest_calls(
    breakers: dict[str, str],
    steps: list[tuple[int, float, float]],
    figures: dict[str, float],
    word: str,
):
    known, latest = provider(breakers=breakers), weather(*steps, **figures)

    assert status_of(known, None, latest).word == word


def test_a_bank_without_readable_figures_is_idle():
    assert status_of(provider(), None, None).word == "idle"


def test_the_status_is_the_current_one_for_any_period():
    shown = weather(FAILING, FAILING, FAILING, success=0.0)

    assert status_of(provider(), shown, weather(WELL, success=1.0)).word == "well"


def test_a_step_without_calls_repeats_the_step_before():
    steps = [
        WeatherStep(at=NOON, calls=0),
        WeatherStep(at=NOON, calls=1, success=0.5),
        WeatherStep(at=NOON, calls=0),
    ]
    shown = msgspec.structs.replace(weather(), steps=steps)

    assert status_of(provider(), shown, None).points == [1.0, 0.5, 0.5]
