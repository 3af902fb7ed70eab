"""Deadlines on a clock that never runs backwards, and a wall clock that is not believed at once."""

from datetime import timedelta

import pytest

from gateway.core.clocks import CertainClock, Deadline
from tests.world.standing import NOON, Clock


def test_a_deadline_passes_at_its_time():
    cases = [(0.0, 20.0, False), (19.5, 0.5, False), (20.0, 0.0, True), (21.0, -1.0, True)]

    for seconds, left, passed in cases:
        clock = Clock()
        deadline = Deadline(clock.up_s + 20.0, clock.monotonic)

        clock.passes(seconds)

        assert (deadline.left(), deadline.passed()) == (left, passed)


TWO_HOURS = timedelta(hours=2)


def test_a_running_clock_is_accepted():
    clock = Clock()
    certain = CertainClock(clock.now, clock.monotonic)

    for seconds in (0.0, 60.0, 86_400.0):
        clock.passes(seconds)
        assert certain() == clock.at


def test_a_corrected_clock_is_accepted():
    """Less than a second between two readings does not count as a pause."""
    clock = Clock()
    certain = CertainClock(clock.now, clock.monotonic)

    for _ in range(10):
        clock.passes(60.0)
        clock.at += timedelta(seconds=0.9)
        assert certain() == clock.at


def test_a_clock_set_ahead_is_followed_after_fifteen_minutes():
    clock = Clock()
    certain = CertainClock(clock.now, clock.monotonic)

    clock.at += TWO_HOURS
    seen = [certain()]
    for _ in range(3):
        clock.passes(299.0)
        seen.append(certain())
    clock.passes(4.0)

    assert seen == [NOON + timedelta(seconds=299 * turn) for turn in range(4)]
    assert certain() == clock.at


def test_the_clock_is_not_ahead_after_a_long_pause():
    clock = Clock()
    certain = CertainClock(clock.now, clock.monotonic)

    clock.passes(86_400.0)
    clock.at += TWO_HOURS

    assert certain() == clock.at - TWO_HOURS


@pytest.mark.parametrize("first", [TWO_HOURS, -TWO_HOURS])
def test_a_clock_set_back_and_forth_is_never_ahead(first: timedelta):
    clock = Clock()
    certain = CertainClock(clock.now, clock.monotonic)
    began, seen = clock.up_s, []
    for put in (first, -first, first, -first):
        clock.at += put
        clock.passes(60.0)
        seen.append(certain())

    passed = timedelta(seconds=clock.up_s - began)
    assert max(seen) <= NOON + passed
    assert seen[-1] <= clock.at
