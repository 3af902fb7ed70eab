"""Status of a bank in one word, from our own calls and its breakers; no bank is queried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.banks.model import CallFigures, Provider, Weather, WeatherStep

_DOWN: Final = 0.5
_WELL: Final = 0.99
_RECENT: Final = 3
"""Minutes in which failures, or calls that go well again, decide the word."""
_SLOW_S: Final = 3.0
"""A partner waits for a payout; beyond three seconds people ask what is wrong."""


@dataclass(frozen=True, slots=True)
class BankStatus:
    """
    Status of a bank.

    Attributes:
        weather: Its statistics; None where unreadable.
        word: ``down``, ``ready``, ``unsteady``, ``slow``, ``well`` or ``idle``.
        points: Points of its success chart.
    """

    provider: Provider
    weather: Weather | None
    word: str
    points: Sequence[float]


def statuses(
    providers: Sequence[Provider], weather: Sequence[Weather], latest: Sequence[Weather]
) -> Sequence[BankStatus]:
    """Pair each provider with its statistics; ``latest`` covers the last 15 minutes."""
    told, now = ({each.provider: each for each in some} for some in (weather, latest))
    return [status_of(each, told.get(each.name), now.get(each.name)) for each in providers]


def status_of(provider: Provider, weather: Weather | None, latest: Weather | None) -> BankStatus:
    """Return a bank's status; its word covers the last minutes, whatever ``weather`` shows."""
    points = list(_points(weather.steps)) if weather else []
    return BankStatus(provider, weather, word_of(provider, latest), points)


def word_of(provider: Provider, latest: Weather | None) -> str:
    """
    Return a bank's current status in one word, by its calls of the last three minutes.

    Without recent calls the bank is not ``down``: older failures make it unsteady.
    """
    if provider.is_on_hold:
        return "down"
    recent = [each for each in latest.steps[-_RECENT:] if each.calls] if latest else []
    if not recent and provider.awaits_trial:
        return "ready"
    if latest is None or not isinstance(latest.success, float):
        return "idle"
    success, slow = (
        (_went_well(recent), _is_slow(recent)) if recent else (latest.success, _is_slow([latest]))
    )
    if recent and success < _DOWN:
        return "down"
    if success < _WELL:
        return "unsteady"
    return "slow" if slow else "well"


def _went_well(recent: Sequence[CallFigures]) -> float:
    """Return the share of successful calls."""
    well = sum(each.calls * each.success for each in recent if isinstance(each.success, float))
    return well / sum(each.calls for each in recent)


def _is_slow(recent: Sequence[CallFigures]) -> bool:
    """Return whether at least half of the calls were in a period with slow calls."""
    slow = [each for each in recent if isinstance(each.p95_s, float) and each.p95_s > _SLOW_S]
    return 2 * sum(each.calls for each in slow) >= max(1, sum(each.calls for each in recent))


def _points(steps: Sequence[WeatherStep]) -> Iterator[float]:
    """Return the success of each step; a step without calls repeats the one before."""
    last = 1.0
    for each in steps:
        last = each.success if isinstance(each.success, float) else last
        yield last
