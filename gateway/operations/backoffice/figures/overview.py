"""The overview: how payouts went by hour, and what needs a person, most urgent first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.domain.backoffice.overview import (
    SETTLED_WITHIN_S,
    HourFigures,
    Need,
    OverviewRecords,
    Period,
    Span,
    Standing,
    median_s,
    span_of,
)
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.money import ZERO, Sum
from gateway.domain.payouts.payouts import PayoutState
from gateway.operations.backoffice.figures.readings import Readings
from gateway.operations.backoffice.figures.weather import WeatherReports

_OVER: Final = timedelta(minutes=15)
"""A payout is stored within seconds of the instant it carries; after this no hour grows."""
_REMEMBERED: Final = Period.MONTH
_ORDER: Final = {need: place for place, need in enumerate(Need)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """
    What the overview tells.

    Attributes:
        hours: Without those in which no payout was created.
        attention: What stands open, what costs most to leave first; within a kind, what is
            oldest or ends first.
        median_s: About how many seconds half of the settled ones took; None without any.
        returned: Of how many settled ones money came back, and how much.
    """

    period: Period
    span: Span
    hours: Sequence[HourFigures]
    attention: Sequence[Standing]
    median_s: float | None
    returned: tuple[int, Sum] = (0, ZERO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overviews:
    """
    Overviews of companies in scope.

    Attributes:
        telling: The providers whose banks are to tell us of payouts unasked.
    """

    records: OverviewRecords
    telling: frozenset[str]
    now: Now

    async def read(self, scope: CompanyScope, period: Period) -> Overview:
        """Return the figures of local days up to now, and what stands open."""
        now = self.now()
        span = span_of(period, now)
        hours = await self.records.hours(span, scope)
        standing = await self.records.standing(scope, now)
        return Overview(
            period=period,
            span=span,
            hours=hours,
            attention=by_urgency(each for each in standing if self._concerns(each)),
            median_s=median_s(_settled(hours)),
            returned=await self.records.returned(span, scope),
        )

    async def remember(self) -> int:
        """Remember hours of the last month that cannot change any more; return how many."""
        now = self.now()
        span = span_of(_REMEMBERED, now - _OVER)
        return await self.records.remember(Span(span.since, _whole_hour(now - _OVER)))

    def _concerns(self, standing: Standing) -> bool:
        """Say whether it is to be told: not that a bank which tells nothing is silent."""
        return standing.need is not Need.CALLBACKS_MISSING or standing.subject in self.telling


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is counted and kept, so that no page waits for a bank."""

    overviews: Overviews
    weather: WeatherReports
    readings: Readings


def by_urgency(standing: Iterable[Standing]) -> Sequence[Standing]:
    """Order what needs a person: what costs most to leave first."""

    def urgency(each: Standing) -> tuple[int, float]:
        return _ORDER[each.need], each.at.timestamp() if each.at else 0.0

    return sorted(standing, key=urgency)


def _settled(hours: Iterable[HourFigures]) -> Sequence[int]:
    """Count settled payouts by how long they took."""
    counts = [0] * (len(SETTLED_WITHIN_S) + 1)
    for each in hours:
        if each.state is PayoutState.PAID and each.settled_within >= 0:
            counts[each.settled_within] += each.count
    return counts


def _whole_hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
