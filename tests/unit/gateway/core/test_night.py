"""The night in São Paulo: its edges, its default limits, and whom they hold for."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from gateway.core.money import Money
from gateway.core.night import NIGHT, Night, NightSpan
from gateway.core.permissions import UNLIMITED, CredentialLimits

EVENING = NightSpan(
    datetime(2026, 11, 20, 23, tzinfo=UTC),
    datetime(2026, 11, 21, 9, tzinfo=UTC),
)
TEN = Money(1000)


@pytest.mark.parametrize(
    ("at", "span"),
    [
        ("2026-11-20T22:59:59.999999+00:00", None),  # 19:59:59 in São Paulo
        ("2026-11-20T23:00:00+00:00", EVENING),
        ("2026-11-20T23:59:59.999999+00:00", EVENING),
        ("2026-11-21T00:00:00+00:00", EVENING),  # midnight in UTC lies inside
        ("2026-11-21T08:59:59.999999+00:00", EVENING),
        ("2026-11-21T09:00:00+00:00", None),  # 06:00:00
    ],
)
def test_a_night_begins_at_eight_and_ends_before_six(at: str, span: NightSpan | None):
    assert NIGHT.span_of(datetime.fromisoformat(at)) == span


def test_a_night_with_a_clock_change_has_its_real_length():
    """Summer time began at midnight of 4 November 2018: that night had nine hours."""
    span = NIGHT.span_of(datetime(2018, 11, 4, 1, tzinfo=UTC))

    assert span == (datetime(2018, 11, 3, 23, tzinfo=UTC), datetime(2018, 11, 4, 8, tzinfo=UTC))


def test_a_night_may_lie_within_one_day():
    night = Night(begins=time(1), ends=time(5))
    hours = [night.span_of(datetime(2026, 11, 20, hour, tzinfo=UTC)) for hour in (3, 4, 7, 8)]

    inside = (datetime(2026, 11, 20, 4, tzinfo=UTC), datetime(2026, 11, 20, 8, tzinfo=UTC))
    assert hours == [None, inside, inside, None]


def test_a_credential_s_own_limit_replaces_the_default():
    night = Night(per_payout=TEN, per_night=TEN)

    own = CredentialLimits(per_day=TEN, per_payout_at_night=Money(0))

    assert night.limits(own) == CredentialLimits(
        per_day=TEN, per_payout_at_night=Money(0), per_night=TEN
    )
    assert NIGHT.limits(own) == own


def test_night_limits_apply_only_when_set():
    default = Night(per_night=TEN)
    day, night = (datetime(2026, 11, 20, hour, tzinfo=UTC) for hour in (12, 23))
    own = CredentialLimits(per_night=TEN)

    assert [NIGHT.applies(UNLIMITED, at) for at in (day, night)] == [False, False]
    assert [default.applies(UNLIMITED, at) for at in (day, night)] == [False, True]
    assert [NIGHT.applies(own, at) for at in (day, night)] == [True, True]
