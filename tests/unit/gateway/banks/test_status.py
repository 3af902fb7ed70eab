"""How a bank is, in one word."""

import pytest

from gateway.banks.model import Weather, WeatherStep, WeatherWindow
from gateway.banks.status import status_of
from tests.unit.gateway.banks.samples import provider
from tests.world.standing import NOON


def weather(*steps: float, **figures: float) -> Weather:
    """Return the weather with the success of each step."""
    return Weather(
        provider="p",
        window=WeatherWindow.QUARTER,
        since=NOON,
        last_failed_at=None,
        last_failed_operation="",
        last_failure="",
        calls=100,
        steps=[WeatherStep(at=NOON, calls=1, success=each) for each in steps],
        by_operation=[],
        **figures,
    )


@pytest.mark.parametrize(
    ("breakers", "figures", "word"),
    [
        ({}, {}, "idle"),
        ({"read": "open"}, {}, "down"),
        ({"read": "open"}, {"success": 1.0}, "down"),
        ({}, {"success": 0.49}, "down"),
        ({}, {"success": 0.98}, "unsteady"),
        ({"read": "half_open"}, {"success": 1.0}, "unsteady"),
        ({}, {"success": 1.0, "p95_s": 3.1}, "slow"),
        ({"read": "closed"}, {"success": 1.0, "p95_s": 3.0}, "well"),
    ],
)
def test_a_bank_has_one_word(breakers: dict[str, str], figures: dict[str, float], word: str):
    assert status_of(provider(breakers=breakers), weather(**figures)).word == word


def test_a_bank_whose_weather_cannot_be_read_is_idle():
    assert status_of(provider(), None).word == "idle"


def test_a_step_without_calls_is_like_that_before_it():
    found = weather(0.5)
    steps = [WeatherStep(at=NOON, calls=0), *found.steps, WeatherStep(at=NOON, calls=0)]

    shown = status_of(
        provider(),
        Weather(
            **{
                name: steps if name == "steps" else getattr(found, name)
                for name in Weather.__struct_fields__
            }
        ),
    )

    assert shown.points == [1.0, 0.5, 0.5]
