"""The weather at banks, from the minutes of every process; no bank is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gateway.domain.backoffice.weather import (
    LENGTH,
    MINUTE,
    STEP,
    Calls,
    LastFailure,
    ProviderMinutes,
    WeatherWindow,
)
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.errors import ServiceError


@dataclass(slots=True, kw_only=True)
class Weather:
    """
    How the calls to one bank went.

    Attributes:
        steps: By when each began; a step without calls is there, too.
        operations: By the port's name of it.
        last_failure: None where every call went well.
    """

    provider: str
    window: WeatherWindow
    since: datetime
    all: Calls = field(default_factory=Calls)
    steps: dict[datetime, Calls] = field(default_factory=dict)
    operations: dict[str, Calls] = field(default_factory=dict)
    last_failure: LastFailure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherReports:
    """
    Reads the weather.

    Attributes:
        providers: The configured ones, by name.
    """

    minutes: ProviderMinutes
    providers: frozenset[str]
    now: Now

    async def read_all(self, window: WeatherWindow) -> Sequence[Weather]:
        """Return the weather at every bank, by name."""
        found = await self._read(window, None)
        return [found[name] for name in sorted(found)]

    async def read(self, provider: str, window: WeatherWindow) -> Weather:
        """
        Return the weather at one bank.

        Raises:
            ServiceError: ``NOT_FOUND`` (404) for one that is not configured.
        """
        if provider not in self.providers:
            raise ServiceError(NOT_FOUND, "provider")
        return (await self._read(window, provider))[provider]

    async def _read(self, window: WeatherWindow, provider: str | None) -> Mapping[str, Weather]:
        step = STEP[window]
        this_minute = self.now().replace(second=0, microsecond=0)
        since = this_minute + MINUTE - LENGTH[window]
        starts = [since + number * step for number in range(LENGTH[window] // step)]
        named = self.providers if provider is None else {provider}
        found = {
            name: Weather(
                provider=name,
                window=window,
                since=since,
                steps={start: Calls() for start in starts},
            )
            for name in named
        }
        for each in await self.minutes.added_up(since, step, provider):
            if each.provider in found:
                weather = found[each.provider]
                weather.all.add(each)
                weather.steps.setdefault(each.minute, Calls()).add(each)
                weather.operations.setdefault(each.operation, Calls()).add(each)
        for failure in await self.minutes.last_failures(since, provider):
            if failure.provider in found:
                found[failure.provider].last_failure = failure
        return found
