"""Log storms."""

import asyncio.selector_events
import inspect
import logging

import pytest

from gateway.telemetry.storms import ACCEPT_STORM, OncePerInterval


@pytest.fixture
def time() -> list[float]:
    return [100.0]


@pytest.fixture
def storm(time: list[float]) -> OncePerInterval:
    return OncePerInterval("storm", interval_s=1.0, now=lambda: time[0])


def test_one_line_of_a_storm_passes(storm):
    passed = [storm.filter(line("storm\nmore")) for _ in range(1000)]

    assert passed.count(True) == 1


def test_the_next_one_tells_how_many_did_not(storm, time):
    for _ in range(1000):
        storm.filter(line("storm"))
    time[0] += 1.0
    following = line("storm")

    passed = storm.filter(following)

    assert passed
    assert following.suppressed == 999


def test_other_lines_pass(storm):
    storm.filter(line("storm"))

    assert all(storm.filter(line("calm")) for _ in range(10))


def test_asyncio_still_says_it_so():
    """The line that comes thousands of times when descriptors run out."""
    assert ACCEPT_STORM in inspect.getsource(asyncio.selector_events)


def line(message: str) -> logging.LogRecord:
    return logging.LogRecord("asyncio", logging.ERROR, __file__, 1, message, (), None)
