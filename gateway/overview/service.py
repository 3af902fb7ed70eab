"""The overview: payouts by hour, and work for people, most urgent first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from msgspec import UNSET

from gateway.banks.model import OPEN, Provider, quantile
from gateway.core.access import Staff, requires
from gateway.core.clocks import Now
from gateway.core.money import ZERO, Sum, sum_of
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.overview.model import (
    SETTLED_WITHIN_S,
    Attention,
    HourFigures,
    Need,
    Overview,
    Period,
    ProvenFigures,
    Span,
    StateFigures,
    StepFigures,
    local_midnight,
    span_of,
)
from gateway.overview.store import OverviewRecords
from gateway.payouts.model import Certainty, PayoutState

_OVER: Final = timedelta(minutes=15)
"""A payout is stored within seconds of the instant it carries; after this no hour grows."""
_REMEMBERED: Final = Period.MONTH
_ORDER: Final = {need: place for place, need in enumerate(Need)}
_RIGHTS: Final = {
    need: Right(area, Action.WRITE)
    for need, area in (
        (Need.UNRESOLVED, Area.PROBE),
        (Need.REVIEW, Area.REVIEW),
        (Need.HELD, Area.APPROVAL),
        (Need.FOREIGN_DEBIT, Area.REVIEW),
        (Need.APPROVAL, Area.APPROVAL),
        (Need.STOP, Area.STOP),
        (Need.CERTIFICATE, Area.PROVIDER),
        (Need.CREDENTIAL, Area.CREDENTIAL),
        (Need.NO_LIMITS, Area.CREDENTIAL),
        (Need.BREAKER, Area.STOP),
        (Need.CALLBACKS_MISSING, Area.PROBE),
    )
}
"""Who can do something about it."""
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overviews:
    """
    Overviews of companies in scope.

    Attributes:
        telling: Providers whose banks send callbacks about payouts.
        known: Returns this process's status of each provider, which has no company.
        demands_limits: Whether a credential that may pay out is to have limits.
    """

    records: OverviewRecords
    telling: frozenset[str]
    known: Callable[[], Sequence[Provider]]
    now: Now
    demands_limits: bool = False

    @requires(Area.PAYOUT, Action.READ)
    async def read(self, who: Staff, period: Period) -> Overview:
        """Read payouts by hour and state, and work for people."""
        now = self.now()
        span = span_of(period, now)
        hours = await self.records.hours(span, who.scope)
        standing = await self.records.standing(who, now)
        items = [each for each in standing if self._concerns(each[1])]
        items += [(True, each) for each in self._breakers()]
        mine = [is_mine and _may(who, each.need) for is_mine, each in items]
        returned = await self.records.returned(span, who.scope)
        of_days, median = period is Period.MONTH, quantile(_settled(hours), SETTLED_WITHIN_S, 0.5)
        by_state = _added((each.state, each) for each in hours)
        proven = _added(((each.state, each.certainty), each) for each in hours)
        return Overview(
            period=period,
            since=span.since,
            until=span.until,
            count=sum(each.count for each in hours),
            value=sum_of(each.value for each in hours),
            settled=by_state.get(PayoutState.PAID, (0, 0))[0],
            returned_count=returned[0],
            returned=returned[1],
            median_to_settle_s=UNSET if median is None else median,
            states=[
                StateFigures(state=state, count=count, value=Sum(centavos))
                for state in PayoutState
                for count, centavos in [by_state.get(state, (0, 0))]
                if count
            ],
            proven=[
                ProvenFigures(state=state, certainty=word, count=count, value=Sum(centavos))
                for state in PayoutState
                for word in Certainty
                for count, centavos in [proven.get((state, word), (0, 0))]
                if count
            ],
            step="day" if of_days else "hour",
            steps=_steps(hours, local_midnight if of_days else _same),
            attention=by_urgency(each for (_, each), own in zip(items, mine, strict=True) if own),
            others=by_urgency(each for (_, each), own in zip(items, mine, strict=True) if not own),
        )

    async def remember(self) -> int:
        """Store unchangeable hours of the last month; return the number."""
        now = self.now()
        span = span_of(_REMEMBERED, now - _OVER)
        until = (now - _OVER).replace(minute=0, second=0, microsecond=0)
        return await self.records.remember(Span(span.since, until))

    def _concerns(self, standing: Attention) -> bool:
        """Return whether an item counts here: not where callbacks or limits are not expected."""
        if standing.need is Need.NO_LIMITS:
            return self.demands_limits
        return standing.need is not Need.CALLBACKS_MISSING or standing.subject in self.telling

    def _breakers(self) -> Iterable[Attention]:
        for each in self.known():
            for kind, state in sorted(each.breakers.items()):
                if state == OPEN:
                    about = f"{each.name}:{kind}"
                    yield Attention(need=Need.BREAKER, subject=about, count=1, value=ZERO, at=None)


def _may(who: Staff, need: Need) -> bool:
    """Return whether the user can act on an item; own orders concern everybody."""
    return need not in _RIGHTS or who.may(_RIGHTS[need])


def by_urgency(standing: Iterable[Attention]) -> list[Attention]:
    """Sort items by urgency."""

    def urgency(each: Attention) -> tuple[int, float]:
        return _ORDER[each.need], each.at.timestamp() if each.at else 0.0

    return sorted(standing, key=urgency)


def _settled(hours: Iterable[HourFigures]) -> Sequence[int]:
    counts = [0] * (len(SETTLED_WITHIN_S) + 1)
    for each in hours:
        if each.state is PayoutState.PAID and each.settled_within >= 0:
            counts[each.settled_within] += each.count
    return counts


def _same(at: datetime) -> datetime:
    return at


def _steps(
    hours: Sequence[HourFigures], step_of: Callable[[datetime], datetime]
) -> list[StepFigures]:
    order = {state: place for place, state in enumerate(PayoutState)}
    added = _added(((step_of(each.hour), order[each.state], each.state), each) for each in hours)
    return [
        StepFigures(at=at.astimezone(UTC), state=state, count=count, value=Sum(centavos))
        for (at, _, state), (count, centavos) in sorted(added.items())
    ]


def _added(figures: Iterable[tuple[Key, HourFigures]]) -> Mapping[Key, tuple[int, int]]:
    """Sum counts and moved centavos, by key."""
    added: dict[Key, tuple[int, int]] = {}
    for key, each in figures:
        count, centavos = added.get(key, (0, 0))
        added[key] = count + each.count, centavos + each.moved.centavos
    return added
