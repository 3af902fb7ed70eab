"""The weather at banks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from gateway.domain.backoffice.weather import (
    MINUTE,
    PLACES,
    LastFailure,
    ProviderMinute,
    WeatherWindow,
)
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.kernel.errors import ServiceError
from gateway.operations.backoffice.figures.weather import WeatherReports
from tests.world.standing import Clock

CLOCK = Clock()
THIS_MINUTE = CLOCK.now().replace(second=0, microsecond=0)


def called(provider: str, operation: str = "get_balance", ok: int = 2) -> ProviderMinute:
    return ProviderMinute(
        provider=provider,
        operation=operation,
        minute=THIS_MINUTE,
        calls=2,
        ok=ok,
        last_failure="",
        took=[2, *[0] * (PLACES - 1)],
    )


@dataclass
class Minutes:
    """Minutes, and the last failures, as given."""

    found: Sequence[ProviderMinute] = ()
    failures: Sequence[LastFailure] = ()

    async def add(self, process: str, minutes: Sequence[ProviderMinute]) -> None:
        raise NotImplementedError

    async def added_up(
        self, since: datetime, step: timedelta, provider: str | None
    ) -> Sequence[ProviderMinute]:
        return [each for each in self.found if provider in {None, each.provider}]

    async def last_failures(self, since: datetime, provider: str | None) -> Sequence[LastFailure]:
        return [each for each in self.failures if provider in {None, each.provider}]

    async def forget(self, before: datetime) -> int:
        raise NotImplementedError


def reports(minutes: Minutes) -> WeatherReports:
    return WeatherReports(minutes=minutes, providers=frozenset({"b", "a"}), now=CLOCK.now)


async def test_every_configured_bank_has_its_weather():
    """Also one that was not called; one that is configured no more has none."""
    minutes = Minutes([called("b"), called("b", "create_payout", ok=1), called("gone")])

    idle, busy = await reports(minutes).read_all(WeatherWindow.QUARTER)

    assert (idle.provider, idle.all.calls, len(idle.steps)) == ("a", 0, 15)
    assert (busy.provider, busy.all.calls, busy.all.success) == ("b", 4, 0.75)
    assert busy.steps[THIS_MINUTE].calls == 4
    assert {name: each.calls for name, each in busy.operations.items()} == {
        "get_balance": 2,
        "create_payout": 2,
    }


async def test_one_bank_has_its_last_failure():
    failure = LastFailure("a", "get_balance", THIS_MINUTE - MINUTE, "timeout")

    found = await reports(Minutes([], [failure])).read("a", WeatherWindow.DAY)

    assert (found.last_failure, len(found.steps)) == (failure, 48)


async def test_a_bank_that_is_not_configured_is_not_there():
    with pytest.raises(ServiceError) as refused:
        await reports(Minutes()).read("gone", WeatherWindow.DAY)

    assert refused.value.error is NOT_FOUND
