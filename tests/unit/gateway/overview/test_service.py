"""The overview: which figures are read, and in which order work is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.banks.model import Provider
from gateway.core.access import Staff
from gateway.core.company_scope import CompanyScope
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.overview.model import Attention, HourFigures, Need, Period, Span, span_of
from gateway.overview.service import Overviews, by_urgency
from gateway.payouts.model import Certainty, PayoutState
from tests.unit.gateway.banks.samples import provider
from tests.world.acts import reader
from tests.world.people import somebody
from tests.world.standing import Clock

SCOPE = CompanyScope(frozenset({"c"}))
WHO = reader(SCOPE)
CLOCK = Clock()


@dataclass
class Records:
    """Given figures and open work; records the queries."""

    hours_found: Sequence[HourFigures] = ()
    standing_found: Sequence[Attention] = ()
    asked: list[object] = field(default_factory=list)

    async def hours(self, span: Span, scope: CompanyScope) -> Sequence[HourFigures]:
        self.asked.append((span, scope))
        return self.hours_found

    async def returned(self, span: Span, scope: CompanyScope) -> tuple[int, Money]:
        return 1, Money(50)

    async def standing(self, who: Staff, now: datetime) -> Sequence[tuple[bool, Attention]]:
        self.asked.append((who.scope, now))
        return [(True, each) for each in self.standing_found]

    async def remember(self, span: Span) -> int:
        self.asked.append(span)
        return 3


OF = {PayoutState.PAID: Certainty.SETTLED, PayoutState.FAILED: Certainty.CONFIRMED_REJECTED}


def overviews(records: Any, telling: frozenset[str] = frozenset(), *known: Provider) -> Overviews:
    return Overviews(records=records, telling=telling, known=lambda: known, now=CLOCK.now)


def figures(state: PayoutState, settled_within: int, count: int) -> HourFigures:
    return HourFigures(CLOCK.now(), state, OF[state], settled_within, count, Money(100), Money(100))


def standing(need: Need, subject: str = "", at: datetime | None = None) -> Attention:
    return Attention(need=need, subject=subject, count=1, value=Money(0), at=at)


async def test_only_paid_payouts_with_a_duration_count_for_the_median():
    """Not failed payouts, nor those without a known time."""
    paid = figures(PayoutState.PAID, 2, 10)
    others = [figures(PayoutState.FAILED, -1, 99), figures(PayoutState.PAID, -1, 99)]

    found = await overviews(Records([paid, *others])).read(WHO, Period.TODAY)

    assert found.median_to_settle_s == 1.5


async def test_callbacks_of_a_bank_configured_without_them_are_not_missing():
    missing = [standing(Need.CALLBACKS_MISSING, name) for name in ("a", "b")]

    found = await overviews(Records((), missing), frozenset({"b"})).read(WHO, Period.TODAY)

    assert [each.subject for each in found.attention] == ["b"]


@pytest.mark.parametrize("demands", [True, False])
async def test_missing_limits_are_listed_only_when_they_are_required(demands: bool):
    lacking = [standing(Need.NO_LIMITS, "cli_a")]

    found = await replace(overviews(Records((), lacking)), demands_limits=demands).read(
        WHO, Period.TODAY
    )

    assert [each.subject for each in found.attention] == ["cli_a"] * demands


@pytest.mark.parametrize(
    ("roles", "theirs"),
    [
        ({Role.VIEWER}, {Need.COLLECT}),
        ({Role.OPERATOR}, {Need.COLLECT, Need.UNRESOLVED, Need.STOP, Need.BREAKER}),
        ({Role.APPROVER}, {*Need} - {Need.CERTIFICATE, Need.CREDENTIAL, Need.NO_LIMITS}),
    ],
)
async def test_work_that_a_user_cannot_do_is_listed_under_others(
    roles: set[Role], theirs: set[Need]
):
    """A reader is asked only for work that they can do."""
    needs = [Need.COLLECT, Need.UNRESOLVED, Need.REVIEW, Need.APPROVAL, Need.STOP, Need.CERTIFICATE]
    records = Records((), [standing(each) for each in needs])
    who = replace(WHO, person=somebody(*roles))

    found = await overviews(
        records, frozenset(), provider(name="ipe", breakers={"payout": "open"})
    ).read(who, Period.TODAY)

    everything = {*needs, Need.BREAKER}
    assert {each.need for each in found.attention} == theirs & everything
    assert {each.need for each in found.others} == everything - theirs


def test_work_is_sorted_by_urgency_and_then_by_age():
    now = CLOCK.now()
    given = [
        standing(Need.BREAKER, "x:read"),
        standing(Need.STOP, "b", now),
        standing(Need.STOP, "a", now - timedelta(hours=1)),
        standing(Need.REVIEW),
        standing(Need.UNRESOLVED),
    ]

    assert by_urgency(given) == [given[4], given[3], given[2], given[1], given[0]]


async def test_an_hour_is_summed_fifteen_minutes_after_its_end():
    """Payouts created in its last second are stored by then."""
    records = Records()

    assert await overviews(records).remember() == 3

    (span,) = records.asked
    over = CLOCK.now() - timedelta(minutes=15)
    assert isinstance(span, Span)
    assert span.until <= over < span.until + timedelta(hours=1)
    assert span.since == span_of(Period.MONTH, over).since


NINE = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATE = datetime(2026, 11, 20, 2, tzinfo=UTC)
"""23:00 of the day before, in Brazil."""
HOURS = (
    HourFigures(NINE, PayoutState.PAID, Certainty.SETTLED, 2, 3, Money(1050), Money(1051)),
    HourFigures(NINE, PayoutState.PAID, Certainty.SETTLED, 9, 1, Money(50), Money(50)),
    HourFigures(LATE, PayoutState.FAILED, Certainty.NOT_SENT, -1, 1, Money(2), Money(2)),
    HourFigures(LATE, PayoutState.FAILED, Certainty.NOT_EXECUTED, -1, 1, Money(5), Money(5)),
)


async def test_hours_are_summed_by_state():
    found = await overviews(Records(HOURS)).read(WHO, Period.TODAY)

    assert (found.count, found.settled, found.step) == (6, 4, "hour")
    assert [(each.state, each.count) for each in found.states] == [("paid", 4), ("failed", 2)]
    assert [(each.at, each.state, each.count) for each in found.steps] == [
        (LATE, "failed", 2),
        (NINE, "paid", 4),
    ]
    assert [each.value.centavos for each in found.states] == [1101, 7]
    assert found.value.centavos == 1107
    assert [(each.state, each.certainty, each.value.centavos) for each in found.proven] == [
        ("paid", "settled", 1101),
        ("failed", "not_sent", 2),
        ("failed", "not_executed", 5),
    ]


async def test_a_month_is_shown_by_local_days():
    found = await overviews(Records(HOURS)).read(WHO, Period.MONTH)

    assert found.step == "day"
    assert [(each.at, each.count) for each in found.steps] == [
        (datetime(2026, 11, 19, 3, tzinfo=UTC), 2),
        (datetime(2026, 11, 20, 3, tzinfo=UTC), 4),
    ]


async def test_an_open_breaker_is_listed_after_more_urgent_work():
    """After what costs more; a closed or half-open one is not listed."""
    bank = provider(name="ipe", breakers={"payout": "open", "read": "half_open", "more": "closed"})

    found = await overviews(Records((), [standing(Need.REVIEW)]), frozenset(), bank).read(
        WHO, Period.TODAY
    )

    assert [(each.need, each.subject) for each in found.attention] == [
        ("review", ""),
        ("breaker", "ipe:payout"),
    ]
