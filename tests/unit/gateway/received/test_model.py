"""The stretches of an account's walk: what is read at once, and how far it is walked then."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, timedelta

import pytest

from gateway.core.windows import Window
from gateway.received.model import Walk, latest, next_stretch
from tests.world.stores.samples import account

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG_AGO = NOON - 300 * DAY


def walk(until: datetime, begun_at: datetime = LONG_AGO) -> Walk:
    return Walk(account=account(), begun_at=begun_at, until=until)


def at(hour: int, minute: int, day: int = 20) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


def days(first: int, last: int) -> Window:
    return Window(date(2026, 11, first), date(2026, 11, last))


@pytest.mark.parametrize(
    ("until", "now", "since", "read"),
    [
        (at(12, 30), at(12, 31), at(12, 15), days(20, 20)),
        (at(12, 59), at(13, 0), at(6, 59), days(20, 20)),
        (at(12, 59, day=19), at(12, 59), at(6, 59, day=19), days(19, 20)),
        (at(0, 4), at(0, 5), at(23, 49, day=19), days(19, 20)),
        (at(0, 30), at(0, 31), at(0, 15), days(19, 20)),
        (at(3, 30), at(3, 31), at(3, 15), days(20, 20)),
        (at(23, 59, day=19), at(0, 0), at(17, 59, day=19), days(19, 20)),
    ],
    ids=[
        *("overlap", "first of an hour", "same hour of another day", "midnight"),
        *("the same day in Brazil", "the next day in Brazil", "first of a day"),
    ],
)
def test_a_stretch_begins_before_the_end_of_the_one_before(
    until: datetime, now: datetime, since: datetime, read: Window
):
    """A quarter of an hour, and six hours once in each hour."""
    found = next_stretch(walk(until), now)

    assert (found.since, found.days, found.until) == (since, read, now)


def test_a_walk_begins_with_the_first_read_of_the_feed():
    """But for the minutes by which the bank's clock may be behind."""
    begun = at(12, 30)

    found = next_stretch(walk(begun, begun), begun + HOUR)

    assert found.since == at(12, 25)


def test_weeks_without_a_walk_are_made_up_two_days_at_a_time():
    walked, stretches = NOON - 7 * DAY, []
    while walked < NOON:
        found = next_stretch(walk(walked), NOON)
        stretches.append(found)
        walked = found.until

    assert [(each.days.ends - each.days.init) for each in stretches] == [DAY] * len(stretches)
    assert all(later.since < earlier.until for earlier, later in itertools.pairwise(stretches))
    assert stretches[0].since < NOON - 7 * DAY
    assert stretches[-1].until == NOON


def test_payments_that_would_have_no_event_are_not_looked_for():
    assert next_stretch(walk(NOON - 60 * DAY), NOON).since == NOON - 30 * DAY


def test_a_clock_that_was_put_back_reads_today():
    found = next_stretch(walk(NOON + 2 * DAY, NOON + DAY), NOON)

    assert (found.since, found.days, found.until) == (NOON, days(20, 20), NOON)


@pytest.mark.parametrize(
    ("moved_at", "last"),
    [
        (at(3, 0), at(3, 0, day=21)),
        (at(3, 1), at(3, 1)),
        (at(0, 0), at(0, 0)),
    ],
)
def test_a_movement_without_a_time_may_be_of_any_instant_of_its_day(
    moved_at: datetime, last: datetime
):
    """Midnight in Brazil is three o'clock in UTC."""
    assert latest(moved_at) == last
