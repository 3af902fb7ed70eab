"""How a bank is, in one word: from our own calls and its breakers; no bank is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.banks.model import Provider, Weather, WeatherStep

_DOWN: Final = 0.5
_WELL: Final = 0.99
_SLOW_S: Final = 3.0
"""A partner waits for a payout; beyond three seconds people ask what is wrong."""


@dataclass(frozen=True, slots=True)
class BankStatus:
    """
    How a bank is.

    Attributes:
        weather: None where it cannot be read.
        word: ``down``, ``unsteady``, ``slow``, ``well`` or ``idle``.
        points: The line of its success.
    """

    provider: Provider
    weather: Weather | None
    word: str
    points: Sequence[float]


def statuses(providers: Sequence[Provider], weather: Sequence[Weather]) -> Sequence[BankStatus]:
    """Put each provider beside its weather."""
    told = {each.provider: each for each in weather}
    return [status_of(each, told.get(each.name)) for each in providers]


def status_of(provider: Provider, weather: Weather | None) -> BankStatus:
    """Return how a bank is."""
    points = list(_points(weather.steps)) if weather else []
    return BankStatus(provider, weather, word_of(provider, weather), points)


def word_of(provider: Provider, weather: Weather | None) -> str:
    """Say how a bank is, in one word."""
    success = weather.success if weather else None
    if "open" in provider.breakers.values():
        return "down"
    if weather is None or not isinstance(success, float):
        return "idle"
    if success < _DOWN:
        return "down"
    if success < _WELL or provider.is_open:
        return "unsteady"
    return "slow" if isinstance(weather.p95_s, float) and weather.p95_s > _SLOW_S else "well"


def _points(steps: Sequence[WeatherStep]) -> Iterator[float]:
    """Return the success of each step; one without calls is like that before it."""
    last = 1.0
    for each in steps:
        last = each.success if isinstance(each.success, float) else last
        yield last
