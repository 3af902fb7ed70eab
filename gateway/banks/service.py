"""Statistics of banks from our own calls; no bank is queried, and providers have no company."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.banks.model import (
    LENGTH,
    MINUTE,
    STEP,
    Calls,
    FailingCalls,
    LastFailure,
    Provider,
    ProviderMinute,
    Weather,
    WeatherOperation,
    WeatherStep,
    WeatherWindow,
)
from gateway.banks.store import ProviderMinutes
from gateway.core.access import Staff, requires
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.user_errors import NOT_FOUND


@dataclass(frozen=True, slots=True, kw_only=True)
class BankReports:
    """
    The configured banks.

    Attributes:
        names: Names of the configured providers.
        known: Returns this process's status of each.
        unwritten: Returns the results of its calls that are not stored yet.
    """

    minutes: ProviderMinutes
    names: frozenset[str]
    known: Callable[[], Sequence[Provider]]
    now: Now
    unwritten: Callable[[], Sequence[ProviderMinute]] = tuple

    @requires(Area.PROVIDER, Action.READ)
    async def providers(self, _who: Staff) -> list[Provider]:
        """List the configured providers, and whether their calls pass."""
        return [*self.known()]

    @requires(Area.PROVIDER, Action.READ)
    async def weather(self, _who: Staff, window: WeatherWindow) -> list[Weather]:
        """Read how calls to every bank went, of every process; no bank is asked."""
        found = await self._read(window, None)
        return [found[name] for name in sorted(found)]

    @requires(Area.PROVIDER, Action.READ)
    async def weather_of(self, _who: Staff, provider: str, window: WeatherWindow) -> Weather:
        """
        Read how calls to a bank went, of every process; the bank is not asked.

        Raises:
            ServiceError: ``NOT_FOUND`` (404) for a provider that is not configured.
        """
        if provider not in self.names:
            raise ServiceError(NOT_FOUND, "provider")
        return (await self._read(window, provider))[provider]

    @requires(Area.PROVIDER, Action.READ)
    async def failing(self, _who: Staff, provider: str) -> list[FailingCalls]:
        """Read the calls to a bank that have failed since they last went well, oldest first."""
        found = await self.minutes.failing(self.now() - LENGTH[WeatherWindow.DAY], provider)
        failing = {each.operation: each for each in found}
        for each in self.unwritten():
            if each.provider != provider or not each.calls:
                continue
            if each.ok:
                failing.pop(each.operation, None)
                continue
            new = FailingCalls(each.operation, each.minute, 0, each.last_failure)
            known = failing.get(each.operation, new)
            failing[each.operation] = replace(
                known, calls=known.calls + each.calls, failure=each.last_failure
            )
        return sorted(failing.values(), key=lambda each: (each.since, each.operation))

    async def _read(self, window: WeatherWindow, provider: str | None) -> Mapping[str, Weather]:
        """Sum the minutes of a window, by provider."""
        step = STEP[window]
        this_minute = self.now().replace(second=0, microsecond=0)
        since = this_minute + MINUTE - LENGTH[window]
        names = self.names if provider is None else {provider}
        starts = [since + number * step for number in range(LENGTH[window] // step)]
        every = {name: Calls() for name in names}
        steps = {name: {start: Calls() for start in starts} for name in names}
        operations = {name: defaultdict[str, Calls](Calls) for name in names}
        own = self.unwritten()
        stepped = [
            replace(each, minute=since + (each.minute - since) // step * step) for each in own
        ]
        for each in [*await self.minutes.added_up(since, step, provider), *stepped]:
            if each.provider in names:
                every[each.provider].add(each)
                steps[each.provider].setdefault(each.minute, Calls()).add(each)
                operations[each.provider][each.operation].add(each)
        failures = await self.minutes.last_failures(since, provider)
        failed = {each.provider: each for each in failures} | {
            each.provider: LastFailure(
                each.provider, each.operation, each.minute, each.last_failure
            )
            for each in own
            if each.last_failure
        }
        return {
            name: Weather(
                provider=name,
                window=window,
                since=since,
                last_failed_at=failed[name].minute if name in failed else None,
                last_failed_operation=failed[name].operation if name in failed else "",
                last_failure=failed[name].word if name in failed else "",
                steps=[
                    WeatherStep(at=at, **calls.figures())
                    for at, calls in sorted(steps[name].items())
                ],
                by_operation=[
                    WeatherOperation(operation=operation, **calls.figures())
                    for operation, calls in sorted(operations[name].items())
                ],
                **every[name].figures(),
            )
            for name in names
        }
