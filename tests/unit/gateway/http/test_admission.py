"""Whether another request is served at all."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from gateway.core.errors import OVERLOADED
from gateway.http.admission import Admission
from tests.unit.refusals import refused


def admission(seen: list[tuple[str, str]], *, in_flight: int = 0, lag_s: float = 0.0) -> Admission:
    """At most ten requests, at most a quarter of a second."""
    return Admission(
        most=10,
        longest_lag_s=0.25,
        lag_s=lambda: lag_s,
        count=lambda event, label: seen.append((event, label)),
        in_flight=in_flight,
    )


@pytest.mark.parametrize(("in_flight", "lag_s"), [(0, 0.0), (10, 0.25)], ids=["idle", "at both"])
def test_a_process_within_its_limits_serves(in_flight: int, lag_s: float):
    seen: list[tuple[str, str]] = []

    admission(seen, in_flight=in_flight, lag_s=lag_s).check()

    assert seen == []


@pytest.mark.parametrize(
    ("in_flight", "lag_s", "reason"), [(11, 0.0, "in_flight"), (0, 0.26, "loop_lag")]
)
def test_a_process_beyond_one_sheds(in_flight: int, lag_s: float, reason: str):
    """Counted by its reason; the caller is told to come again in a second."""
    seen: list[tuple[str, str]] = []

    with refused(OVERLOADED) as refusal:
        admission(seen, in_flight=in_flight, lag_s=lag_s).check()

    assert seen == [("shed", reason)]
    assert refusal.value.headers == {"Retry-After": "1"}


def waiting(admitted: Admission, *addresses: str) -> ExitStack:
    """Let a body of each address be waited for, until the stack is closed."""
    stack = ExitStack()
    for address in addresses:
        stack.enter_context(admitted.waits_for_stranger("login", address))
    return stack


def test_bodies_of_strangers_are_counted_apart_from_what_is_in_flight():
    """They refuse nobody else, however many they are; all of them are shown."""
    admitted = admission([], in_flight=11)

    with waiting(admitted, "192.0.2.1", "192.0.2.2"):
        during = (admitted.in_flight, admitted.in_all, dict(admitted.strangers["login"]))
        admitted.check()

    assert during == (9, 11, {"192.0.2.1": 1, "192.0.2.2": 1})
    assert (admitted.in_flight, admitted.in_all, dict(admitted.strangers["login"])) == (11, 11, {})


@pytest.mark.parametrize(("most", "places"), [(10, 10), (100, 10), (1_000, 100)])
def test_a_tenth_waits_for_strangers_and_ten_at_least(most: int, places: int):
    seen: list[tuple[str, str]] = []
    admitted = admission(seen)
    admitted.most = most

    with (
        waiting(admitted, *(f"192.0.2.{number}" for number in range(places))),
        refused(OVERLOADED) as refusal,
        admitted.waits_for_stranger("login", "198.51.100.1"),
    ):
        pass

    assert seen == [("shed", "strangers")]
    assert refusal.value.headers == {"Retry-After": "1"}


@pytest.mark.parametrize(
    ("one", "another"), [("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8:0:1::1")]
)
def test_a_network_has_a_quarter_of_the_places(one: str, another: str):
    """It cannot fill them alone, with whatever addresses of its /64."""
    admitted = admission([])
    admitted.most = 1_000
    beside = one if "." in one else "2001:db8::ffff"

    with waiting(admitted, *[one] * 25):
        with refused(OVERLOADED), admitted.waits_for_stranger("login", beside):
            pass
        with admitted.waits_for_stranger("login", another):
            pass


def test_whatever_ends_the_wait_gives_the_place_back():
    admitted = admission([], in_flight=1)

    with pytest.raises(ConnectionError), admitted.waits_for_stranger("login", "192.0.2.1"):
        raise ConnectionError

    assert (admitted.in_flight, dict(admitted.strangers["login"])) == (1, {})
