"""When a delivery is tried again."""

from __future__ import annotations

from datetime import timedelta

from gateway.deliveries.schedule import PAUSES, TRIES, pause_after
from tests.world.deliveries import HALF
from tests.world.tables import cases

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def test_there_are_thirteen_tries_in_three_days():
    pauses = [pause_after(each, None, lambda: HALF) for each in range(1, TRIES)]

    assert TRIES == 13
    assert pauses == list(PAUSES)
    assert timedelta(hours=71) < sum(PAUSES, timedelta()) <= timedelta(hours=72)
    assert pause_after(TRIES, None, lambda: HALF) is None


@cases(("chance", "seconds"), [(0.0, 4), (0.5, 5), (0.999_999, 6)])
def test_a_pause_is_spread_by_a_fifth(chance: float, seconds: int):
    found = pause_after(1, None, lambda: chance)

    assert found is not None
    assert round(found.total_seconds(), 3) == seconds


@cases(
    ("wish", "pause"),
    [
        (SECOND, 5 * SECOND),
        (20 * SECOND, 20 * SECOND),
        (HOUR, HOUR),
        (2 * HOUR, HOUR),
    ],
)
def test_retry_after_is_obeyed_up_to_an_hour(wish: timedelta, pause: timedelta):
    assert pause_after(1, wish, lambda: HALF) == pause


def test_retry_after_makes_no_long_pause_shorter():
    assert pause_after(TRIES - 1, HOUR, lambda: HALF) == PAUSES[-1]


def test_retry_after_gives_no_further_try():
    assert pause_after(TRIES, HOUR, lambda: HALF) is None
