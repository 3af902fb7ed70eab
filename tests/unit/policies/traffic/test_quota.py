"""Partner quotas: token buckets, beside the plainest bucket there is."""

from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import errors
from gateway.core.calls import Call
from policies.traffic import quota as module
from policies.traffic.quota import COMPANY, Buckets, Draw, Quota, WithinQuota
from tests.unit.refusals import refused
from tests.world.people import call, principal
from tests.world.standing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(up_s=0.0)


def drawn(buckets: Buckets, times: int, key: str = "a") -> list[Draw]:
    return [buckets.draw(key) for _ in range(times)]


def test_a_full_bucket_gives_its_burst_and_no_more(clock: Clock):
    buckets = Buckets(Quota(rate=2.0, burst=3), clock.monotonic)

    draws = drawn(buckets, 4)

    assert [draw.allowed for draw in draws] == [True, True, True, False]
    assert [draw.remaining for draw in draws] == [2, 1, 0, 0]
    assert draws[3].wait_s == pytest.approx(0.5)


def test_tokens_come_back_at_the_rate(clock: Clock):
    buckets = Buckets(Quota(rate=2.0, burst=3), clock.monotonic)
    drawn(buckets, 3)

    clock.passes(0.5)

    assert [draw.allowed for draw in drawn(buckets, 2)] == [True, False]


def test_a_draw_given_back_is_one_to_draw_and_never_more_than_the_burst(clock: Clock):
    buckets = Buckets(Quota(rate=1.0, burst=2), clock.monotonic)
    drawn(buckets, 2)

    for _ in range(5):
        buckets.give_back("a")
    buckets.give_back("unknown")

    assert [draw.allowed for draw in drawn(buckets, 3)] == [True, True, False]


def test_a_charge_is_owed_where_there_is_no_token_and_the_debt_is_bounded(clock: Clock):
    buckets = Buckets(Quota(rate=2.0, burst=3), clock.monotonic)
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


def test_a_refused_draw_costs_nothing(clock: Clock):
    """A caller that keeps knocking gets in as soon as one that waits."""
    buckets = Buckets(Quota(rate=1.0, burst=1), clock.monotonic)
    drawn(buckets, 100)

    clock.passes(1.0)

    assert buckets.draw("a").allowed


def test_no_more_than_the_burst_is_kept(clock: Clock):
    buckets = Buckets(Quota(rate=5.0, burst=2), clock.monotonic)
    drawn(buckets, 2)

    clock.passes(3600)

    assert [draw.allowed for draw in drawn(buckets, 3)] == [True, True, False]


def test_with_another_quota_a_bucket_lacks_as_many_tokens_as_before(clock: Clock):
    """Nobody waits for a rate that is not in force any more."""
    buckets = Buckets(Quota(rate=0.01, burst=2), clock.monotonic)
    drawn(buckets, 2)

    buckets.change(Quota(rate=1.0, burst=10))

    assert [draw.allowed for draw in drawn(buckets, 9)] == [True] * 8 + [False]
    assert buckets.draw("b").remaining == 9


def test_keys_have_buckets_of_their_own(clock: Clock):
    buckets = Buckets(Quota(rate=1.0, burst=1), clock.monotonic)
    drawn(buckets, 2, "a")

    assert buckets.draw("b").allowed


def test_memory_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_KEYS_KEPT", 10)
    buckets = Buckets(Quota(rate=1.0, burst=1), clock.monotonic)

    for number in range(100):
        buckets.draw(str(number))

    assert len(buckets._full_at) == 10
    assert not buckets.draw("99").allowed


@given(
    rate=st.sampled_from([1, 2, 3, 7, 10, 50]),
    burst=st.integers(1, 20),
    pauses=st.lists(st.integers(0, 300), min_size=1, max_size=80),
)
def test_it_gives_what_counted_tokens_give(rate: int, burst: int, pauses: list[int]):
    """
    The model counts tokens in exact fractions; pauses are hundredths of a second.

    So a bucket holds a whole token or lacks a hundredth of one at least: a rounding error is
    told from a real difference.
    """
    clock = Clock(up_s=5000.0)
    buckets = Buckets(Quota(rate=float(rate), burst=burst), clock.monotonic)
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


@pytest.mark.parametrize(
    ("quota", "seconds"), [(Quota(10.0, 20), 2), (Quota(3.0, 10), 4), (Quota(100.0, 1), 1)]
)
def test_the_window_is_what_an_empty_bucket_takes_to_fill(quota: Quota, seconds: int):
    assert quota.window_s == seconds


class Partner:
    """A policy with two quotas, and what it told of its draws."""

    def __init__(self, clock: Clock, route: Quota, company: Quota) -> None:
        self.seen: list[tuple[str, str]] = []
        self.within = WithinQuota(
            {"read": route, COMPANY: company},
            clock.monotonic,
            lambda event, label: self.seen.append((event, label)),
        )

    def calls(self, client_id: str = "client-1") -> Call:
        asking = call(principal=msgspec.structs.replace(principal(), client_id=client_id))
        self.within(asking)
        return asking


def test_a_call_within_both_quotas_is_told_what_is_left_of_its_own(clock: Clock):
    partner = Partner(clock, Quota(5.0, 10), Quota(50.0, 100))

    asking = partner.calls()

    assert asking.headers == {
        "RateLimit-Policy": '"read";q=10;w=2',
        "RateLimit": '"read";r=9;t=1',
    }
    assert partner.seen == [("quota", "read.allowed"), ("quota", "company.allowed")]


def test_over_the_row_s_quota_it_is_refused_and_told_when_to_come_back(clock: Clock):
    partner = Partner(clock, Quota(0.25, 1), Quota(50.0, 100))
    partner.calls()

    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        partner.calls()

    assert refusal.value.reason == "quota_read"
    assert refusal.value.headers == {
        "RateLimit-Policy": '"read";q=1;w=4',
        "RateLimit": '"read";r=0;t=4',
        "Retry-After": "4",
    }
    assert partner.seen[-1] == ("quota", "read.limited")
    clock.passes(float(refusal.value.headers["Retry-After"]))
    partner.calls()


def test_over_the_company_s_quota_it_is_refused_whatever_is_left_of_its_own(clock: Clock):
    """Many credentials of one company share one bucket."""
    partner = Partner(clock, Quota(5.0, 10), Quota(10.0, 1))
    partner.calls()

    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        partner.calls()

    assert refusal.value.reason == "quota_company"
    assert refusal.value.headers["Retry-After"] == "1"


def test_a_further_page_costs_a_call_and_other_credentials_of_the_company_wait_a_second(
    clock: Clock,
):
    partner = Partner(clock, Quota(5.0, 10), Quota(50.0, 100))
    asking = partner.calls()
    for _ in range(1000):
        partner.within.charge("read", asking.principal)

    with refused(errors.TOO_MANY_REQUESTS) as own:
        partner.calls()
    with refused(errors.TOO_MANY_REQUESTS) as other:
        partner.calls("client-2")
    clock.passes(1.02)
    partner.calls("client-2")

    assert (own.value.reason, own.value.headers["Retry-After"]) == ("quota_read", "61")
    assert (other.value.reason, other.value.headers["Retry-After"]) == ("quota_company", "2")


def test_a_call_that_is_refused_takes_no_token_of_either(clock: Clock):
    """A loop of one credential leaves its company's calls to the others."""
    partner = Partner(clock, Quota(1.0, 2), Quota(1.0, 3))
    partner.calls("in a loop"), partner.calls("in a loop")
    for _ in range(9):
        with refused(errors.TOO_MANY_REQUESTS):
            partner.calls("in a loop")

    partner.calls("another")
    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        partner.calls("another")
    clock.passes(1.0)

    assert refusal.value.reason == "quota_company"
    assert partner.calls("another").headers["RateLimit"] == '"read";r=1;t=1'


def test_without_a_principal_nothing_is_drawn(clock: Clock):
    partner = Partner(clock, Quota(1.0, 1), Quota(1.0, 1))

    partner.within(call())

    assert partner.seen == []
