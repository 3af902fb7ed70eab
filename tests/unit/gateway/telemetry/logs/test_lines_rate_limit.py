"""One message, too often."""

import pytest

from gateway.telemetry.logs.lines import Ceiling


class Clock:
    """Stands still unless a test moves it."""

    def __init__(self) -> None:
        self.at = 10.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_message_is_limited_per_second(clock: Clock):
    ceiling = Ceiling(3, clock)

    passed = [ceiling.admits("x") for _ in range(5)]

    assert passed == [True, True, True, False, False]


def test_the_limit_restarts_each_second(clock: Clock):
    ceiling = Ceiling(1, clock)
    ceiling.admits("x")

    clock.at += 1

    assert ceiling.admits("x")


def test_each_message_has_its_own_limit(clock: Clock):
    ceiling = Ceiling(1, clock)
    ceiling.admits("x")

    assert ceiling.admits("y")


def test_suppressed_lines_are_reported_once(clock: Clock):
    ceiling = Ceiling(2, clock)
    for _ in range(5):
        ceiling.admits("x")

    during = ceiling.take_suppressed()
    clock.at += 1
    after = ceiling.take_suppressed()

    assert (during, after, ceiling.take_suppressed()) == ({}, {"x": 3}, {})


def test_differing_messages_share_a_ceiling(clock: Clock):
    """Otherwise a value inside the message would lift it, and fill memory."""
    ceiling = Ceiling(100, clock)

    passed = sum(ceiling.admits(f"x {number}") for number in range(5000))

    assert passed == 1024 + 100
