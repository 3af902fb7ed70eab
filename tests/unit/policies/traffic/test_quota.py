"""Partner quotas: what they take, refuse and show."""

import msgspec
import pytest

from gateway.core import errors
from gateway.core.calls import Call
from gateway.core.limits import CallRate
from policies.traffic.quota import COMPANY, WithinQuota
from tests.unit.refusals import refused
from tests.world.people import call, principal
from tests.world.standing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(up_s=0.0)


class Partner:
    """A policy with two quotas, and the draws it reported."""

    def __init__(self, clock: Clock, route: CallRate, company: CallRate) -> None:
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


def test_a_call_within_both_quotas_shows_the_remaining_route_quota(clock: Clock):
    partner = Partner(clock, CallRate(rate=5.0, burst=10), CallRate(rate=50.0, burst=100))

    asking = partner.calls()

    assert asking.headers == {
        "RateLimit-Policy": '"read";q=10;w=2',
        "RateLimit": '"read";r=9;t=1',
    }
    assert partner.seen == [("quota", "read.allowed"), ("quota", "company.allowed")]


def test_a_call_over_the_route_quota_is_refused_with_retry_after(clock: Clock):
    partner = Partner(clock, CallRate(rate=0.25, burst=1), CallRate(rate=50.0, burst=100))
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


def test_a_call_over_the_company_quota_is_refused_despite_its_route_quota(clock: Clock):
    """Many credentials of one company share one bucket."""
    partner = Partner(clock, CallRate(rate=5.0, burst=10), CallRate(rate=10.0, burst=1))
    partner.calls()

    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        partner.calls()

    assert refusal.value.reason == "quota_company"
    assert refusal.value.headers["Retry-After"] == "1"


def test_a_charged_page_reduces_both_quotas_with_bounded_debt(
    clock: Clock,
):
    partner = Partner(clock, CallRate(rate=5.0, burst=10), CallRate(rate=50.0, burst=100))
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


def test_a_refused_call_uses_no_token_of_either_quota(clock: Clock):
    """A loop of one credential leaves its company's calls to the others."""
    partner = Partner(clock, CallRate(rate=1.0, burst=2), CallRate(rate=1.0, burst=3))
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


def test_a_call_without_a_principal_uses_no_quota(clock: Clock):
    partner = Partner(clock, CallRate(rate=1.0, burst=1), CallRate(rate=1.0, burst=1))

    partner.within(call())

    assert partner.seen == []
