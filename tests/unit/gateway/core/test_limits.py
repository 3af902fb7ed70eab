"""Token buckets beside the plainest bucket there is, and moving windows beside a list."""

from fractions import Fraction
from math import e

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import limits as module
from gateway.core.limits import (
    Ask,
    Buckets,
    CallRate,
    Draw,
    Grant,
    MovingWindow,
    SharedBuckets,
    take_in_time,
)
from tests.world.shared_limits import Counting, Late
from tests.world.standing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(up_s=0.0)


def drawn(buckets: Buckets, times: int, key: str = "a") -> list[Draw]:
    return [buckets.draw(key) for _ in range(times)]


def test_a_full_bucket_gives_its_burst(clock: Clock):
    buckets = Buckets(CallRate(rate=2.0, burst=3), clock.monotonic)

    draws = drawn(buckets, 4)

    assert [draw.allowed for draw in draws] == [True, True, True, False]
    assert [draw.remaining for draw in draws] == [2, 1, 0, 0]
    assert draws[3].wait_s == pytest.approx(0.5)


def test_tokens_refill_at_the_rate(clock: Clock):
    buckets = Buckets(CallRate(rate=2.0, burst=3), clock.monotonic)
    drawn(buckets, 3)

    clock.passes(0.5)

    assert [draw.allowed for draw in drawn(buckets, 2)] == [True, False]


def test_returned_tokens_never_exceed_the_burst(clock: Clock):
    buckets = Buckets(CallRate(rate=1.0, burst=2), clock.monotonic)
    drawn(buckets, 2)

    for _ in range(5):
        buckets.give_back("a")
    buckets.give_back("unknown")

    assert [draw.allowed for draw in drawn(buckets, 3)] == [True, True, False]


def test_a_charge_without_a_token_becomes_a_bounded_debt(clock: Clock):
    buckets = Buckets(CallRate(rate=2.0, burst=3), clock.monotonic)
    drawn(buckets, 2)

    for _ in range(4):
        buckets.charge("a")
    owed = buckets.draw("a")
    clock.passes(owed.wait_s)
    paid_off = drawn(buckets, 2)
    for _ in range(1000):
        buckets.charge("a")

    assert owed == Draw(allowed=False, remaining=0, wait_s=2.0)
    assert [draw.allowed for draw in paid_off] == [True, False]
    assert buckets.draw("a").wait_s == pytest.approx(60.5)


def test_a_refused_draw_takes_no_token(clock: Clock):
    """A caller that keeps trying gets in as soon as one that waits."""
    buckets = Buckets(CallRate(rate=1.0, burst=1), clock.monotonic)
    drawn(buckets, 100)

    clock.passes(1.0)

    assert buckets.draw("a").allowed


def test_tokens_never_exceed_the_burst(clock: Clock):
    buckets = Buckets(CallRate(rate=5.0, burst=2), clock.monotonic)
    drawn(buckets, 2)

    clock.passes(3600)

    assert [draw.allowed for draw in drawn(buckets, 3)] == [True, True, False]


def test_a_changed_rate_keeps_the_number_of_missing_tokens(clock: Clock):
    """The wait is that of the new rate."""
    buckets = Buckets(CallRate(rate=0.01, burst=2), clock.monotonic)
    drawn(buckets, 2)

    buckets.change(CallRate(rate=1.0, burst=10))

    assert [draw.allowed for draw in drawn(buckets, 9)] == [True] * 8 + [False]
    assert buckets.draw("b").remaining == 9


def test_each_key_has_its_own_bucket(clock: Clock):
    buckets = Buckets(CallRate(rate=1.0, burst=1), clock.monotonic)
    drawn(buckets, 2, "a")

    assert buckets.draw("b").allowed


def test_remembered_buckets_are_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_KEYS_KEPT", 10)
    buckets = Buckets(CallRate(rate=1.0, burst=1), clock.monotonic)

    for number in range(100):
        buckets.draw(str(number))

    assert len(buckets._full_at) == 10
    assert not buckets.draw("99").allowed


@given(
    rate=st.sampled_from([1, 2, 3, 7, 10, 50]),
    burst=st.integers(1, 20),
    pauses=st.lists(st.integers(0, 300), min_size=1, max_size=80),
)
def test_a_bucket_matches_an_exact_token_count(rate: int, burst: int, pauses: list[int]):
    """
    The model counts tokens in exact fractions; pauses are hundredths of a second.

    So a bucket has a whole token or lacks at least a hundredth of one, and a rounding error is
    recognizable.
    """
    clock = Clock(up_s=5000.0)
    buckets = Buckets(CallRate(rate=float(rate), burst=burst), clock.monotonic)
    tokens = Fraction(burst)

    for pause in pauses:
        clock.up_s = round(clock.up_s * 100 + pause) / 100
        tokens = min(Fraction(burst), tokens + Fraction(pause * rate, 100))
        draw = buckets.draw("a")
        assert draw.allowed == (tokens >= 1)
        if draw.allowed:
            tokens -= 1
            assert abs(draw.remaining - tokens) <= 1
        else:
            assert draw.wait_s == pytest.approx(float((1 - tokens) / rate), abs=1e-6)


def test_a_charge_and_a_query_return_the_wait_for_a_token(clock: Clock):
    buckets = Buckets(CallRate(rate=2.0, burst=1), clock.monotonic, longest_debt_s=1.0)

    told = [(buckets.wait_s("a"), buckets.charge("a")) for _ in range(3)]

    assert told == [(0, 0), (0.5, 0.5), (1.0, 1.0)]
    assert buckets.wait_s("a") == 1.5


def test_a_share_of_a_bucket_has_that_share_of_rate_and_burst(clock: Clock):
    buckets = Buckets(CallRate(rate=8.0, burst=4), clock.monotonic)

    half = [buckets.draw("a", 2).allowed for _ in range(3)], buckets.wait_s("a", 2)
    eighth = [buckets.draw("b", 8).allowed for _ in range(2)], buckets.wait_s("b", 8)

    assert half == ([True, True, False], 0.25)
    assert eighth == ([True, False], 1.0)


def test_a_debt_is_repaid_once_and_bounded(clock: Clock):
    own = Buckets(CallRate(rate=2.0, burst=4), clock.monotonic)
    shared = SharedBuckets("read", own, lambda: 2, longest_wait_s=1.0)

    for _ in range(9):
        shared.owe("a", 3)
    repaid = shared.repay("a"), shared.repay("b")
    asks = [shared.ask("a", 0, back=1), shared.ask("a", 1), shared.ask("a", 1, debt_s=5.0)]
    shared.owe("a", 3, asks[1].back)

    assert repaid == (True, False)
    assert [ask.back for ask in asks] == [1, -2, 0]
    assert asks[2] == Ask("read/2.0/4/a", step_s=0.5, room_s=3.0, want=1, debt_s=5.0)
    assert shared.ask("a", 1).back == 0
    assert [shared.draw("a").allowed for _ in range(3)] == [True, True, False]


class Common:
    """Common buckets of ten a second and 40 at once as one of four processes knows them."""

    def __init__(self, clock: Clock) -> None:
        own = Buckets(CallRate(rate=10.0, burst=40), clock.monotonic)
        self.buckets = SharedBuckets("read", own, lambda: 4)

    def answers(self, key: str, took: int, full_s: float, drawn: float) -> None:
        ask = self.buckets.ask(key, took)
        self.buckets.answered(key, ask, Grant(took, full_s, drawn))

    def gives(self, key: str) -> int:
        return sum(self.buckets.draw(key).allowed for _ in range(100))


def test_without_the_server_a_process_uses_its_recent_share(clock: Clock):
    """At least a fourth, as for a bucket from which it drew nothing."""
    common = Common(clock)

    for key, drawn in {"alone": 30, "most": 40, "a tenth": 300}.items():
        common.answers(key, 30, 0.0, drawn)
    common.answers("others", 0, 0.0, 30)

    given = {key: common.gives(key) for key in ("alone", "most", "a tenth", "others", "unknown")}
    assert given == {"alone": 40, "most": 30, "a tenth": 10, "others": 10, "unknown": 10}


def test_a_share_is_kept_for_a_minute_without_an_answer(clock: Clock):
    common = Common(clock)
    common.answers("a", 30, 0.0, 40)
    clock.passes(60)

    given = common.gives("a")
    clock.passes(3600)

    assert (given, common.gives("a")) == (30, 30)
    common.answers("a", 30, 0.0, 40)
    clock.passes(61)
    assert common.gives("a") == 10


def test_recent_draws_weigh_more_than_earlier_ones(clock: Clock):
    """A process that drew alone a minute ago, and a third of all draws since."""
    common = Common(clock)
    common.answers("a", 30, 0.0, 30)
    clock.passes(60)

    common.answers("a", 9, 0.0, 30 / e + 29)

    assert common.gives("a") == 20


def test_the_local_bucket_starts_as_full_as_the_shared_one(clock: Clock):
    common = Common(clock)

    common.answers("a", 2, 3.0, 2)

    assert common.gives("a") == 10


def test_a_share_after_a_server_reset_is_at_most_the_whole(clock: Clock):
    common = Common(clock)
    for key in "ab":
        common.answers(key, 30, 0.0, 120)
        common.answers(key, 1, 0.0, 1)
    common.answers("b", 1, 0.0, 80)

    assert (common.gives("a"), common.gives("b")) == (40, 10)


async def test_late_tokens_repay_debt_or_are_returned(clock: Clock):
    """Of two late tokens, one had already been drawn from the process's own bucket."""
    shared = Late(clock.monotonic)
    common = Common(clock).buckets
    draws = [(common, "a")]

    unanswered = await take_in_time(shared, draws, 2)
    common.owe("a", 40)
    shared.answer()

    assert unanswered is None
    assert [common.ask("a", 1).back for _ in range(2)] == [1, 0]


def test_a_changed_rate_clears_debts_and_uses_new_buckets(clock: Clock):
    own = Buckets(CallRate(rate=2.0, burst=4), clock.monotonic)
    shared = SharedBuckets("read", own, lambda: 1)
    shared.owe("a", 4)
    before = shared.ask("a", 0).key

    shared.change(CallRate(rate=3.0, burst=4))

    assert shared.ask("a", 1).back == 0
    assert shared.ask("a", 1).key != before


WINDOW_S = 60.0


@pytest.fixture
def window(clock: Clock) -> MovingWindow:
    return MovingWindow(WINDOW_S, 12, clock.monotonic)


def counted(window: MovingWindow, times: int, key: str = "a") -> None:
    for _ in range(times):
        window.add(key)


def test_the_window_moves_with_time(window: MovingWindow, clock: Clock):
    counted(window, 4)
    clock.passes(30)
    counted(window, 3)

    assert window.wait_s("a", 6) == 30
    clock.passes(30)
    assert window.wait_s("a", 6) == 0
    counted(window, 4)
    assert window.wait_s("a", 6) == 30


def test_the_wait_ends_when_enough_events_have_left_the_window(window: MovingWindow, clock: Clock):
    """Not when the first one leaves: the caller would come back in vain."""
    for pause, times in [(0, 1), (10, 1), (10, 6)]:
        clock.passes(pause)
        counted(window, times)

    assert window.wait_s("a", 6) == 50
    clock.passes(50)
    assert window.wait_s("a", 6) == 0


def test_events_outside_the_window_are_deleted(window: MovingWindow, clock: Clock):
    counted(window, 5)
    clock.passes(61)

    assert window.wait_s("a", 6) == 0
    assert not window.times


def test_windows_are_bounded_and_quiet_keys_are_evicted_first(
    window: MovingWindow, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "_KEYS_KEPT", 10)
    counted(window, 9, "quiet")

    for number in range(100):
        counted(window, 1, "busy")
        counted(window, 1, str(number))

    assert len(window.times) == 10
    assert sum(map(len, window.times.values())) <= 10 * 13
    assert window.wait_s("quiet", 6) == 0
    assert window.wait_s("busy", 12) > 0


@given(st.lists(st.tuples(st.floats(0, 40), st.sampled_from("ab")), max_size=60))
def test_a_window_counts_like_a_list_of_events(steps: list[tuple[float, str]]):
    clock = Clock()
    window = MovingWindow(WINDOW_S, 12, clock.monotonic)
    events: list[tuple[float, str]] = []

    for pause, key in steps:
        clock.passes(pause)
        window.add(key)
        events.append((clock.up_s, key))
        recent = sum(at > clock.up_s - WINDOW_S and of == key for at, of in events)

        assert [window.wait_s(key, limit) > 0 for limit in (2, 12)] == [recent > 2, recent > 12]


async def test_processes_count_events_together_and_reading_makes_no_call(clock: Clock):
    shared = Counting(clock.monotonic)
    one, other = (MovingWindow(WINDOW_S, 12, clock.monotonic, shared) for _ in range(2))
    waits = []

    for window in (one, other, one, other):
        await window.add_for_all({"a": [2, 12], "b": [3]})
        waits.append((window.wait_s("a", 2), window.wait_s("a", 12), window.wait_s("b", 3)))
    calls = shared.calls
    clock.passes(60)

    assert waits == [(0, 0, 0), (0, 0, 0), (60, 0, 0), (60, 0, 60)]
    assert (other.wait_s("a", 2), calls) == (0, shared.calls)


async def test_with_an_unreliable_server_at_most_one_and_a_half_times_the_limit_pass(clock: Clock):
    """Of 20: all while four processes count together, and two in each without an answer."""
    passed = []
    for away_of_three in (0, 3, 1, 2):
        shared = Counting(clock.monotonic, serving=4)
        each = [MovingWindow(WINDOW_S, 20, clock.monotonic, shared) for _ in range(4)]
        let = 0
        for number in range(200):
            shared.away = number // 4 % 3 < away_of_three
            await each[number % 4].add_for_all({"a": [20]})
            let += each[number % 4].strict_wait_s("a", 20) == 0
        passed.append(let)
        assert each[0].wait_s("a", 60) == 0
        clock.passes(60)
        assert each[0].strict_wait_s("a", 20) == 0

    assert passed[:2] == [20, 8]
    assert max(passed) <= 30
