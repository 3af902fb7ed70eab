"""How a bank is, in one word: from our own calls and its breakers; no bank is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

CLOSED: Final = "closed"
_DOWN: Final = 0.5
_WELL: Final = 0.99
_SLOW_S: Final = 3.0
"""A partner waits for a payout; beyond three seconds people ask what is wrong."""


def skies(
    providers: Mapping[str, Any] | None, weather: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Put each provider beside its weather; without either there is nothing to show."""
    told = {each["provider"]: each for each in (weather or {"data": ()})["data"]}
    return [sky(each, told.get(each["name"], {})) for each in (providers or {"data": ()})["data"]]


def sky(provider: Mapping[str, Any], weather: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of a provider, with its word and the line of its success."""
    return {
        "provider": provider,
        "weather": weather,
        "word": word_of(provider, weather),
        "points": list(_points(weather.get("steps", ()))),
    }


def word_of(provider: Mapping[str, Any], weather: Mapping[str, Any]) -> str:
    """Return ``down``, ``unsteady``, ``slow``, ``well`` or ``idle``."""
    success = weather.get("success")
    is_open = "open" in provider["breakers"].values()
    if is_open or (success is not None and success < _DOWN):
        return "down"
    if success is None:
        return "idle"
    if success < _WELL or any(state != CLOSED for state in provider["breakers"].values()):
        return "unsteady"
    return "slow" if weather.get("p95_s", 0.0) > _SLOW_S else "well"


def _points(steps: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """Return the success of each step; one without calls is like that before it."""
    last = 1.0
    for each in steps:
        last = float(each.get("success", last))
        yield last
