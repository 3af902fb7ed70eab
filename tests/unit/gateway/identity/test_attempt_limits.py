"""Limits on failed attempts."""

from __future__ import annotations

from datetime import timedelta

from gateway.identity.attempt_limits import (
    REMEMBERED,
    AttemptLimit,
    Failures,
    blocked_for,
    doubling_blocks,
    undo_attempt,
)
from tests.world.standing import NOON

SECOND = timedelta(seconds=1)
WINDOW = timedelta(minutes=15)
LIMIT = AttemptLimit(
    most=3, window=WINDOW, block=doubling_blocks(timedelta(seconds=30), timedelta(minutes=2))
)


def after(
    tries: int, before: Failures | None = None, limit: AttemptLimit = LIMIT, at=NOON
) -> Failures | None:
    for _ in range(tries):
        before = limit.next(before, "k", at)
    return before


def test_the_try_that_fills_the_window_blocks_the_next():
    two, three = after(2), after(3)

    assert two is not None
    assert three is not None
    assert blocked_for(two, NOON) == timedelta(0)
    assert blocked_for(three, NOON) == timedelta(seconds=30)


def test_a_block_that_holds_is_not_lengthened():
    """Otherwise who waits for somebody else's block would wait for ever."""
    three = after(3)

    assert after(5, three, at=NOON + 29 * SECOND) == three


def test_each_block_is_twice_as_long_up_to_the_longest():
    failures, at, lengths = None, NOON, []
    for _ in range(4):
        failures = after(3, failures, at=at)
        assert failures is not None
        lengths.append(blocked_for(failures, at).total_seconds())
        at += blocked_for(failures, at)

    assert lengths == [30, 60, 120, 120]


def test_a_day_later_blocks_are_short_again():
    failures = after(3, after(3), at=NOON + REMEMBERED)

    assert failures is not None
    assert blocked_for(failures, NOON + REMEMBERED) == timedelta(seconds=30)


def test_a_window_that_is_over_begins_anew():
    failures = after(2, after(2), at=NOON + WINDOW)

    assert failures is not None
    assert (failures.count, failures.blocked_until) == (2, None)


def test_without_a_length_a_block_lasts_until_the_window_is_over():
    limit = AttemptLimit(most=3, window=WINDOW)

    failures = limit.next(after(2, limit=limit), "k", NOON + 60 * SECOND)

    assert blocked_for(failures, NOON + 60 * SECOND) == timedelta(minutes=14)


def test_a_try_that_was_right_is_taken_back_with_its_block():
    three = after(3)

    back = undo_attempt(three, "k", NOON)

    assert back == after(2)


def test_taking_back_what_was_not_counted_is_nothing():
    assert undo_attempt(None, "k", NOON).count == 0
    assert undo_attempt(after(1), "k", NOON).count == 0
