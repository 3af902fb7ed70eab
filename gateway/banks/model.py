"""
Models of banks for staff: results of all processes' calls, and adapters' declarations.

A call succeeded if the bank answered, even with a refusal. A call that the open breaker held back
failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import Sum
from gateway.core.schemas import OptionalMoment, PresentMoment, inline
from gateway.store.tables.figures import CALL_BOUNDS_S, PLACES

MINUTE: Final = timedelta(minutes=1)
WELL: Final = frozenset({"ok", "not_found", "rejected"})
"""Outcomes of calls that went well."""
CLOSED: Final = "closed"
"""The state of a breaker that lets calls pass."""
OPEN: Final = "open"
"""The state of a breaker that keeps calls back."""
_P95: Final = 0.95
_DIGITS: Final = 4
_DOWN: Final = 0.5
_WELL: Final = 0.99
RECENT: Final = 3
"""Minutes in which failures, or calls that go well again, decide the word."""
_SLOW_S: Final = 3.0
"""A partner waits for a payout; beyond three seconds people ask what is wrong."""


class WeatherWindow(StrEnum):
    """Length of the statistics window."""

    QUARTER = "15m"
    DAY = "24h"
    WEEK = "7d"


LENGTH: Final = {
    WeatherWindow.QUARTER: timedelta(minutes=15),
    WeatherWindow.DAY: timedelta(days=1),
    WeatherWindow.WEEK: timedelta(days=7),
}
STEP: Final = {
    WeatherWindow.QUARTER: MINUTE,
    WeatherWindow.DAY: timedelta(minutes=30),
    WeatherWindow.WEEK: timedelta(hours=3),
}
Operation = Annotated[str, Meta(examples=["get_balance"])]
Failure = Annotated[str, Meta(examples=["timeout"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderMinute:
    """
    One process's calls of a bank in one minute, by operation.

    Attributes:
        minute: Its start.
        calls: All calls, including those refused here.
        ok: Successful calls.
        last_failure: The most frequent failure; empty without failures.
        took: Number of calls by bucket of ``CALL_BOUNDS_S``, and one bucket for slower calls.
    """

    provider: str
    operation: str
    minute: datetime
    calls: int
    ok: int
    last_failure: str
    took: Sequence[int]


@dataclass(slots=True)
class Calls:
    """Sums of calls; ``took`` as above."""

    calls: int = 0
    ok: int = 0
    took: list[int] = field(default_factory=lambda: [0] * PLACES)

    def add(self, minute: ProviderMinute) -> None:
        """Add the sums of some minutes."""
        self.calls += minute.calls
        self.ok += minute.ok
        self.took = [one + more for one, more in zip(self.took, minute.took, strict=True)]

    def figures(self) -> dict[str, Any]:
        """Return the fields of ``CallFigures``."""
        share = round(self.ok / self.calls, _DIGITS) if self.calls else UNSET
        return {"calls": self.calls, "success": share, "p95_s": self._p95_s()}

    def _p95_s(self) -> float | UnsetType:
        """Return the 95th percentile of durations in seconds, interpolated."""
        found = quantile(self.took, CALL_BOUNDS_S, _P95)
        return UNSET if found is None else round(found, _DIGITS)


def quantile(counts: Sequence[int], bounds: Sequence[float], share: float) -> float | None:
    """
    Return the approximate quantile of a share; None without values.

    ``counts`` are per bucket of the upper ``bounds``, with one more for larger values. Values are
    assumed to be evenly spread within a bucket.
    """
    wanted, below = sum(counts) * share, 0
    if not wanted:
        return None
    for count, (least, most) in zip(counts, pairwise((0.0, *bounds)), strict=False):
        if count and below + count >= wanted:
            return least + (most - least) * (wanted - below) / count
        below += count
    return float(bounds[-1])


@dataclass(frozen=True, slots=True)
class LastFailure:
    """The last minute with a failed call, and its most frequent failure."""

    provider: str
    operation: str
    minute: datetime
    word: str


@dataclass(frozen=True, slots=True)
class FailingCalls:
    """
    Calls of one operation that have failed since the last success.

    Attributes:
        since: The first failed minute, within a day.
        failure: The word of the last failure.
    """

    operation: str
    since: datetime
    calls: int
    failure: str


class CallFigures(Struct, frozen=True, kw_only=True):
    """
    How calls went.

    ``success`` is the share that went well, from 0 to 1, a refusal by the bank included;
    ``p95_s`` is interpolated. Each is absent where there was no call.
    """

    calls: Annotated[int, meaning("Number of calls to the bank.")]
    success: Annotated[
        float | UnsetType,
        meaning("Share of calls that succeeded, from 0 to 1; absent without calls."),
    ] = UNSET
    p95_s: Annotated[
        float | UnsetType, meaning("Seconds within which 95 of 100 calls were answered.")
    ] = UNSET


class WeatherStep(CallFigures, frozen=True, kw_only=True):
    """Those from ``at`` on."""

    at: PresentMoment


class WeatherOperation(CallFigures, frozen=True, kw_only=True):
    """Those of one operation of the provider port."""

    operation: Annotated[Operation, meaning("Which operation of the bank.")]


FailedOperation = Annotated[Operation, meaning("The operation that failed last; empty for none.")]
FailureOfLast = Annotated[Failure, meaning("Why it failed; empty for none.")]


class Weather(CallFigures, frozen=True, kw_only=True):
    """
    How the calls of every process to a bank went.

    The last failure is the latest minute with one, and its word; empty where every call
    went well. Each process stores its minutes once a minute.
    """

    provider: fields.Provider
    window: Annotated[
        WeatherWindow, inline(WeatherWindow), meaning("Which time the figures are of.")
    ]
    since: PresentMoment
    last_failed_at: OptionalMoment
    last_failed_operation: FailedOperation
    last_failure: FailureOfLast
    steps: Annotated[list[WeatherStep], meaning("The figures step by step, oldest first.")]
    by_operation: Annotated[
        list[WeatherOperation], meaning("The same figures by operation of the bank.")
    ]


class Provider(Struct, frozen=True, kw_only=True):
    """
    A configured provider, as this process sees it.

    ``capabilities`` are declared by its adapter, the row of the matrix that
    ``pixgate providers`` prints; ``problem`` describes an adapter's breach of the port,
    and is empty for one that did not. ``breakers`` say by class of operation whether
    calls pass: ``closed``; ``open``, for about as long as ``open_until`` says; or ``half_open``,
    when the next call is tried. The last call says how it ended, ``ok`` or why not.
    ``certificate_ends_at`` is of our certificate at the bank where all accounts share one; those
    of accounts are in the overview.
    """

    name: Annotated[str, meaning("Name, as people know it.", "sandbox")]
    adapter: Annotated[str, meaning("The adapter that speaks to the bank.", "sandbox")]
    problem: fields.Problem
    read_only: Annotated[
        bool, meaning("Whether the bank is only read from: nothing is paid or changed there.")
    ]
    operations: Annotated[list[str], meaning("What the bank's adapter can do.", ["charge_create"])]
    capabilities: Annotated[dict[str, Any], meaning("What the bank's adapter offers, by name.")]
    breakers: Annotated[
        Mapping[str, str], meaning("State of the circuit breaker by kind of operation.")
    ]
    last_call_at: OptionalMoment
    last_operation: Annotated[
        str, meaning("The operation that was called last; empty for none.", "balance")
    ]
    last_outcome: Annotated[str, meaning("How the last call ended; empty for none.", "ok")]
    last_ok_at: OptionalMoment
    last_failed_at: OptionalMoment
    last_failed_operation: FailedOperation
    last_failure: FailureOfLast
    in_flight: Annotated[int, meaning("Calls to the bank that wait for an answer now.")]
    in_flight_limit: Annotated[int, meaning("Most calls at once.")]
    open_until: Annotated[
        Mapping[str, str],
        meaning("Until when the circuit breaker stays open; empty where it is closed."),
    ]
    certificate_ends_at: OptionalMoment

    @property
    def is_on_hold(self) -> bool:
        """Return whether calls of some class are held back now."""
        return OPEN in self.breakers.values()

    @property
    def awaits_trial(self) -> bool:
        """Return whether the next call of some class is a trial."""
        return not self.is_on_hold and any(each != CLOSED for each in self.breakers.values())


READ_AT_MOST: Final = 50
"""Accounts of one view: each costs its bank a call a minute while somebody looks."""


class Reading(Struct, frozen=True, kw_only=True):
    """
    The last balance that an account's bank returned.

    ``balance`` is absent while it was never read, ``blocked`` also where it is unreported.
    """

    account_id: fields.AccountId
    account_name: Annotated[str, Meta(description="The name of the account.", examples=["Matriz"])]
    provider: fields.Provider
    balance: Sum | UnsetType = UNSET
    blocked: Sum | UnsetType = UNSET
    read_at: OptionalMoment


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
    over_window, recent = ({each.provider: each for each in some} for some in (weather, latest))
    return [
        status_of(each, over_window.get(each.name), recent.get(each.name)) for each in providers
    ]


def status_of(provider: Provider, weather: Weather | None, latest: Weather | None) -> BankStatus:
    """Return a bank's status of the last minutes, independent of the period of ``weather``."""
    points = list(_points(weather.steps)) if weather else []
    return BankStatus(provider, weather, word_of(provider, latest), points)


def word_of(provider: Provider, latest: Weather | None) -> str:
    """
    Return a bank's current status in one word, by its calls of the last three minutes.

    Without recent calls the bank is not ``down``: older failures make it unsteady.
    """
    if provider.is_on_hold:
        return "down"
    recent = [each for each in latest.steps[-RECENT:] if each.calls] if latest else []
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


def is_down(calls: int, ok: int) -> bool:
    """Return whether a bank counts as ``down`` by its recent calls; without calls it does not."""
    return ok < calls * _DOWN


def _went_well(recent: Sequence[CallFigures]) -> float:
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
