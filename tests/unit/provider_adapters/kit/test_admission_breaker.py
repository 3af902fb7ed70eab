"""The circuit breaker, with a clock that stands still."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from provider_adapters.kit.admission import Breaker, BreakerState, RecentCalls
from provider_adapters.kit.limits import BreakerLimits
from tests.world.banks.witness import Clock
from tests.world.tables import cases

OPEN, HALF_OPEN, CLOSED = BreakerState.OPEN, BreakerState.HALF_OPEN, BreakerState.CLOSED


class Tried:
    def __init__(self, chance: float = 0.5, limits: BreakerLimits | None = None) -> None:
        self.clock = Clock()
        self.told: list[BreakerState] = []
        self.breaker = Breaker(
            limits or BreakerLimits(), self.clock, lambda: chance, self.told.append
        )

    def call(self, *, fails: bool) -> bool:
        """Make one call; False when it was not let through."""
        permit = self.breaker.admit()
        if permit is None:
            return False
        if fails:
            self.breaker.failed(permit)
        else:
            self.breaker.succeeded(permit)
        return True

    def opened(self) -> Tried:
        for _ in range(5):
            self.call(fails=True)
        return self


def test_five_consecutive_failures_open_the_breaker():
    tried = Tried()

    passed = [tried.call(fails=True) for _ in range(6)]

    assert passed == [True] * 5 + [False]
    assert tried.told == [OPEN]


def test_a_success_between_failures_keeps_the_breaker_closed():
    tried = Tried()

    for fails in [True] * 4 + [False] + [True] * 4:
        tried.call(fails=fails)

    assert tried.breaker.state is CLOSED


@cases(("calls", "state"), [(18, CLOSED), (20, OPEN)])
def test_half_of_at_least_twenty_calls_failing_opens_the_breaker(calls: int, state: BreakerState):
    tried = Tried()

    for turn in range(calls):
        tried.call(fails=turn % 2 == 1)

    assert tried.breaker.state is state


def test_failures_older_than_half_a_minute_do_not_count():
    tried = Tried()
    for turn in range(18):
        tried.call(fails=turn % 2 == 1)
    tried.clock.passes(31)

    for fails in (True, False, True):
        tried.call(fails=fails)

    assert tried.breaker.state is CLOSED


@cases(("chance", "seconds"), [(0.0, 8.0), (0.5, 10.0), (1.0, 12.0)])
def test_the_breaker_stays_open_for_ten_seconds_plus_or_minus_a_fifth(
    chance: float, seconds: float
):
    tried = Tried(chance).opened()

    tried.clock.passes(seconds - 0.01)
    before = tried.call(fails=False)
    tried.clock.passes(0.02)
    after = tried.call(fails=False)

    assert (before, after) == (False, True)
    assert tried.told == [OPEN, HALF_OPEN, CLOSED]


def test_a_half_open_breaker_admits_one_probe():
    tried = Tried().opened()
    tried.clock.passes(10)

    first, second = tried.breaker.admit(), tried.breaker.admit()

    assert first is not None
    assert second is None


def test_an_abandoned_probe_is_replaced_by_another():
    tried = Tried().opened()
    tried.clock.passes(10)
    probe = tried.breaker.admit()
    assert probe is not None

    tried.breaker.abandoned(probe)

    assert tried.breaker.admit() is not None


def test_the_pause_grows_after_each_failed_probe_up_to_two_minutes():
    tried = Tried().opened()
    waits = []

    for _ in range(14):
        waited = 0
        while tried.breaker.state is OPEN and not tried.call(fails=True):
            tried.clock.passes(1)
            waited += 1
        waits.append(waited)

    assert waits == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 120, 120]


def test_the_pause_is_reset_when_the_breaker_closes():
    tried = Tried().opened()
    tried.clock.passes(10)
    tried.call(fails=True)
    tried.clock.passes(20)
    tried.call(fails=False)

    tried.opened()
    tried.clock.passes(10)

    assert tried.call(fails=False)


def test_calls_begun_before_the_breaker_opened_do_not_affect_it():
    """During a probe, only the probe decides."""
    tried = Tried()
    slow = [tried.breaker.admit() for _ in range(3)]
    tried.opened()
    assert None not in slow

    tried.clock.passes(10)
    probe = tried.breaker.admit()

    tried.breaker.succeeded(slow[0] or 0)
    tried.breaker.failed(slow[1] or 0)
    tried.breaker.abandoned(slow[2] or 0)

    assert probe is not None
    assert tried.told == [OPEN, HALF_OPEN]
    assert tried.breaker.admit() is None


def test_calls_and_failures_are_counted():
    recent = RecentCalls(30)

    for failed in (True, False, True):
        recent.add(1000, failed=failed)

    assert (recent.calls, recent.failures) == (3, 2)


@cases(("later", "calls"), [(0, 2), (26, 2), (30, 1), (300, 1)])
def test_calls_older_than_the_span_are_dropped(later: float, calls: int):
    recent = RecentCalls(30)
    recent.add(1000, failed=True)

    recent.add(1000 + later, failed=False)

    assert recent.calls == calls


@given(st.lists(st.tuples(st.floats(0, 20), st.booleans()), max_size=60))
def test_the_recent_calls_are_counted_within_a_tolerance(steps: list[tuple[float, bool]]):
    """Calls are dropped at most a tenth of the span early."""
    recent, now, seen = RecentCalls(30), 1000.0, []

    for step, failed in steps:
        now += step
        recent.add(now, failed=failed)
        seen.append((now, failed))

    sure = sum(1 for at, _ in seen if at > now - 27)
    possible = sum(1 for at, _ in seen if at > now - 30)
    assert sure <= recent.calls <= possible
    assert 0 <= recent.failures <= recent.calls
