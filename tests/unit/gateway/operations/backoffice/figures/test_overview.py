"""The overview: which figures are asked for, and what is told first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gateway.domain.backoffice.overview import HourFigures, Need, Period, Span, Standing, span_of
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.payouts import PayoutState
from gateway.operations.backoffice.figures.overview import Overviews, by_urgency
from tests.world.standing import Clock

SCOPE = CompanyScope(frozenset({"c"}))
CLOCK = Clock()


@dataclass
class Records:
    """Figures and what stands open, as given; what was asked is kept."""

    hours_found: Sequence[HourFigures] = ()
    standing_found: Sequence[Standing] = ()
    asked: list[object] = field(default_factory=list)

    async def hours(self, span: Span, scope: CompanyScope) -> Sequence[HourFigures]:
        self.asked.append((span, scope))
        return self.hours_found

    async def returned(self, span: Span, scope: CompanyScope) -> tuple[int, Money]:
        return 1, Money(50)

    async def standing(self, scope: CompanyScope, now: datetime) -> Sequence[Standing]:
        self.asked.append((scope, now))
        return self.standing_found

    async def remember(self, span: Span) -> int:
        self.asked.append(span)
        return 3


def overviews(records: Records, telling: frozenset[str] = frozenset()) -> Overviews:
    return Overviews(records=records, telling=telling, now=CLOCK.now)


def figures(state: PayoutState, settled_within: int, count: int) -> HourFigures:
    return HourFigures(CLOCK.now(), state, settled_within, count, Money(100))


def standing(need: Need, subject: str = "", at: datetime | None = None) -> Standing:
    return Standing(need, subject, 1, Money(0), at)


async def test_figures_are_asked_within_the_scope():
    records = Records()

    found = await overviews(records).read(SCOPE, Period.WEEK)

    assert records.asked == [(span_of(Period.WEEK, CLOCK.now()), SCOPE), (SCOPE, CLOCK.now())]
    assert (found.hours, found.attention, found.median_s) == ((), [], None)


async def test_the_median_is_of_what_was_paid():
    """One that failed took no time to settle, nor one whose instant is not known."""
    paid = figures(PayoutState.PAID, 2, 10)
    others = [figures(PayoutState.FAILED, -1, 99), figures(PayoutState.PAID, -1, 99)]

    found = await overviews(Records([paid, *others])).read(SCOPE, Period.TODAY)

    assert found.median_s == 1.5


async def test_a_bank_that_is_to_tell_nothing_is_not_missed():
    missing = [standing(Need.CALLBACKS_MISSING, name) for name in ("a", "b")]

    found = await overviews(Records((), missing), frozenset({"b"})).read(SCOPE, Period.TODAY)

    assert [each.subject for each in found.attention] == ["b"]


def test_what_costs_most_to_leave_comes_first_and_then_the_oldest():
    now = CLOCK.now()
    given = [
        standing(Need.BREAKER, "x:read"),
        standing(Need.STOP, "b", now),
        standing(Need.STOP, "a", now - timedelta(hours=1)),
        standing(Need.REVIEW),
        standing(Need.UNRESOLVED),
    ]

    assert by_urgency(given) == [given[4], given[3], given[2], given[1], given[0]]


async def test_an_hour_is_remembered_a_quarter_of_an_hour_after_it_ended():
    """What was created in its last second is stored by then."""
    records = Records()

    assert await overviews(records).remember() == 3

    (span,) = records.asked
    over = CLOCK.now() - timedelta(minutes=15)
    assert isinstance(span, Span)
    assert span.until <= over < span.until + timedelta(hours=1)
    assert span.since == span_of(Period.MONTH, over).since
