"""When a read is asked a second time."""

from __future__ import annotations

import pytest

from gateway.banks.port.providers import Reason, Unavailable
from gateway.core.clocks import Deadline
from provider_adapters.kit import faults
from provider_adapters.kit.client import RetryBudget
from provider_adapters.kit.limits import ClientLimits
from tests.world.banks.witness import Clock
from tests.world.tables import cases

LOST = Unavailable(Reason.CONNECTION_LOST)


def repetition(in_flight: int = 1, chance: float = 0.0) -> RetryBudget:
    return RetryBudget(ClientLimits(), lambda: chance, lambda: in_flight)


def within(seconds: float) -> Deadline:
    clock = Clock()
    return Deadline(clock.at + seconds, clock)


@cases("reason", list(Reason))
def test_only_a_lost_connection_is_repeated(reason: Reason):
    pause = repetition().pause_after(Unavailable(reason), within(8))

    assert (pause is not None) is (reason in faults.NO_ANSWER)


@cases(("chance", "seconds"), [(0.0, 0.05), (1.0, 0.15)])
def test_the_pause_before_a_repeat_is_short_and_random(chance: float, seconds: float):
    assert repetition(chance=chance).pause_after(LOST, within(8)) == pytest.approx(seconds)


def test_nothing_is_repeated_without_time_left():
    assert repetition().pause_after(LOST, within(0.05)) is None


@cases(("in_flight", "allowed"), [(1, 1), (19, 2), (64, 7)])
def test_a_tenth_of_the_calls_in_flight_may_be_repeats(in_flight: int, allowed: int):
    """But always one: otherwise a quiet gateway would never repeat."""
    budget = repetition(in_flight)
    running = []

    while budget.pause_after(LOST, within(8)) is not None:
        running.append(budget.running())
        running[-1].__enter__()

    assert len(running) == allowed
    running[0].__exit__(None, None, None)
    assert budget.pause_after(LOST, within(8)) is not None
