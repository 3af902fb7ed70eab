"""Local days as spans of hours, and the median of how long payouts took."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gateway.banks.model import quantile
from gateway.overview.model import (
    SETTLED_WITHIN_S,
    Period,
    Span,
    local_midnight,
    span_of,
)

EVENING = datetime(2026, 11, 21, 1, 40, tzinfo=UTC)
"""22:40 of the day before, in Brazil."""
SUMMER = datetime(2018, 11, 20, 13, tzinfo=UTC)
MORNING = datetime(2026, 11, 20, 13, 40, 5, tzinfo=UTC)


def test_a_period_starts_at_a_local_midnight():
    """Daylight saving time, as in 2018, shifts it by an hour."""
    cases = [
        (Period.TODAY, EVENING, datetime(2026, 11, 20, 3, tzinfo=UTC)),
        (Period.TODAY, MORNING, datetime(2026, 11, 20, 3, tzinfo=UTC)),
        (Period.WEEK, MORNING, datetime(2026, 11, 14, 3, tzinfo=UTC)),
        (Period.MONTH, MORNING, datetime(2026, 10, 22, 3, tzinfo=UTC)),
        (Period.TODAY, SUMMER, datetime(2018, 11, 20, 2, tzinfo=UTC)),
    ]

    for period, now, since in cases:
        this_hour = now.replace(minute=0, second=0)

        assert span_of(period, now) == Span(since, this_hour + timedelta(hours=1))
        assert local_midnight(since) == local_midnight(since + timedelta(hours=23)) == since


def test_the_median_of_no_payouts_is_none():
    assert quantile([0] * (len(SETTLED_WITHIN_S) + 1), SETTLED_WITHIN_S, 0.5) is None


def test_the_median_is_the_middle_of_its_bucket():
    """Times beyond the last bound count as the bound."""
    cases = [(0, 0.25), (1, 0.75), (2, 1.5), (15, 50_400.0), (16, 86_400.0)]

    for place, seconds in cases:
        counts = [0] * (len(SETTLED_WITHIN_S) + 1)
        counts[place] = 10

        assert quantile(counts, SETTLED_WITHIN_S, 0.5) == seconds


def test_the_median_is_interpolated_within_its_bucket():
    counts = [0] * (len(SETTLED_WITHIN_S) + 1)
    counts[1], counts[3], counts[9] = 4, 4, 2

    assert quantile(counts, SETTLED_WITHIN_S, 0.5) == 2.25
