"""Banks as staff see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec import UNSET

from gateway.banks.model import MINUTE, FailingCalls, LastFailure, ProviderMinute, WeatherWindow
from gateway.banks.service import BankReports
from gateway.core.errors import ServiceError
from gateway.core.user_errors import NOT_FOUND
from gateway.store.tables.figures import PLACES
from tests.unit.gateway.banks.samples import provider
from tests.world.acts import reader
from tests.world.standing import Clock

CLOCK, WHO = Clock(), reader()
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
    failed: Sequence[FailingCalls] = ()

    async def add(self, process: str, minutes: Sequence[ProviderMinute]) -> None:
        raise NotImplementedError

    async def added_up(
        self, since: datetime, step: timedelta, provider: str | None
    ) -> Sequence[ProviderMinute]:
        return [each for each in self.found if provider in {None, each.provider}]

    async def last_failures(self, since: datetime, provider: str | None) -> Sequence[LastFailure]:
        return [each for each in self.failures if provider in {None, each.provider}]

    async def failing(self, since: datetime, provider: str) -> Sequence[FailingCalls]:
        return self.failed

    async def forget(self, before: datetime) -> int:
        raise NotImplementedError


def reports(minutes: Any, *unwritten: ProviderMinute) -> BankReports:
    return BankReports(
        minutes=minutes,
        names=frozenset({"b", "a"}),
        known=lambda: [provider()],
        now=CLOCK.now,
        unwritten=lambda: unwritten,
    )


async def test_every_configured_bank_has_statistics():
    """Also one that was not called; a bank no longer configured has none."""
    minutes = Minutes([called("b"), called("b", "create_payout", ok=1), called("gone")])

    idle, busy = await reports(minutes).weather(WHO, WeatherWindow.QUARTER)

    assert (idle.provider, idle.calls, len(idle.steps)) == ("a", 0, 15)
    assert (idle.success, idle.p95_s, idle.last_failed_at) == (UNSET, UNSET, None)
    assert (busy.provider, busy.calls, busy.success) == ("b", 4, 0.75)
    assert (busy.steps[-1].at, busy.steps[-1].calls) == (THIS_MINUTE, 4)
    assert [(each.operation, each.calls, each.p95_s) for each in busy.by_operation] == [
        ("create_payout", 2, 0.0002),
        ("get_balance", 2, 0.0002),
    ]


async def test_one_bank_s_statistics_have_its_last_failure():
    failure = LastFailure("a", "get_balance", THIS_MINUTE - MINUTE, "timeout")

    found = await reports(Minutes([], [failure])).weather_of(WHO, "a", WeatherWindow.DAY)

    assert (found.last_failed_at, found.last_failure) == (failure.minute, "timeout")
    assert (found.last_failed_operation, len(found.steps)) == ("get_balance", 48)


async def test_statistics_of_an_unconfigured_bank_are_not_found():
    with pytest.raises(ServiceError) as refused:
        await reports(Minutes()).weather_of(WHO, "gone", WeatherWindow.DAY)

    assert refused.value.error is NOT_FOUND


async def test_the_state_known_to_this_process_is_shown():
    assert await reports(Minutes()).providers(WHO) == [provider()]


async def test_unwritten_minutes_are_part_of_the_statistics():
    """State, success and last failure of a bank that just failed agree."""
    earlier = LastFailure("a", "get_balance", THIS_MINUTE - 9 * MINUTE, "timeout")
    gone = replace(called("a", ok=0), last_failure="connect_error")

    found = await reports(Minutes([called("a")], [earlier]), gone).weather_of(
        WHO, "a", WeatherWindow.DAY
    )

    assert (found.calls, found.success) == (4, 0.5)
    assert (found.last_failed_at, found.last_failure) == (THIS_MINUTE, "connect_error")
    assert found.steps[-1].calls == 2


async def test_failing_calls_are_counted_since_the_last_success():
    kept = [
        FailingCalls("get_balance", THIS_MINUTE - MINUTE, 3, "timeout"),
        FailingCalls("find_payout", THIS_MINUTE - 2 * MINUTE, 1, "timeout"),
    ]
    more = replace(called("a", ok=0), last_failure="connect_error")
    well, other = called("a", "find_payout"), replace(more, provider="b")
    first = replace(more, operation="create_payout")

    found = await reports(Minutes(failed=kept), more, well, other, first).failing(WHO, "a")

    assert found == [
        FailingCalls("get_balance", THIS_MINUTE - MINUTE, 5, "connect_error"),
        FailingCalls("create_payout", THIS_MINUTE, 2, "connect_error"),
    ]
