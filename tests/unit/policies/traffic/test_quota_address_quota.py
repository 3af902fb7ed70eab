"""Token buckets of addresses."""

from __future__ import annotations

import pytest

from gateway.core import errors
from gateway.core.browsers import KnownBrowser
from gateway.core.limits import CallRate
from policies.traffic.quota import WithinAddressQuota
from tests.unit.refusals import refused
from tests.world.people import call, headed
from tests.world.standing import Clock


@pytest.fixture
def seen() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def quota(clock: Clock, seen: list[tuple[str, str]]) -> WithinAddressQuota:
    """Two at once, then one every ten seconds."""
    quotas = {"sign_in": CallRate(rate=0.1, burst=2)}
    return WithinAddressQuota(quotas, clock.monotonic, lambda *each: seen.append(each))


def test_each_address_has_its_own_quota(
    quota: WithinAddressQuota, clock: Clock, seen: list[tuple[str, str]]
):
    here, there = headed(), headed()
    there.address = "198.51.100.9"

    for asked in (here, here, there):
        quota(call(asked, quota="sign_in"))
    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        quota(call(here, quota="sign_in"))
    clock.passes(10)
    quota(call(here, quota="sign_in"))

    assert refusal.value.headers == {
        "RateLimit-Policy": '"sign_in";q=2;w=20',
        "RateLimit": '"sign_in";r=0;t=10',
        "Retry-After": "10",
    }
    assert seen.count(("quota", "sign_in.allowed")) == 4
    assert seen.count(("quota", "sign_in.limited")) == 1


@pytest.mark.parametrize(
    ("neighbour", "stranger"),
    [("2001:db8:1:2:ffff::9", "2001:db8:1:3::1"), ("::ffff:203.0.113.7", "203.0.113.8")],
)
def test_an_ipv6_network_shares_one_quota(quota: WithinAddressQuota, neighbour: str, stranger: str):
    """Otherwise an IPv6 network would have as many attempts as addresses."""
    here, beside, elsewhere = headed(), headed(), headed()
    here.address = "2001:db8:1:2::1" if neighbour.startswith("2001") else "203.0.113.7"
    beside.address, elsewhere.address = neighbour, stranger

    for asked in (here, beside, elsewhere):
        quota(call(asked, quota="sign_in"))

    with refused(errors.TOO_MANY_REQUESTS):
        quota(call(beside, quota="sign_in"))
    quota(call(elsewhere, quota="sign_in"))


def test_a_route_without_an_address_quota_is_unlimited(
    quota: WithinAddressQuota, seen: list[tuple[str, str]]
):
    for _ in range(100):
        quota(call(headed(), quota="own"))

    assert seen == []


def test_a_successful_sign_in_returns_its_token(clock: Clock):
    """An office signing in at nine uses up no attempts; wrong passwords do."""
    quotas = {"sign_in": CallRate(rate=0.1, burst=2), "recovery": CallRate(rate=0.1, burst=2)}
    quota = WithinAddressQuota(quotas, clock.monotonic, lambda *_: None, ["sign_in"])

    for _ in range(20):
        right = call(headed(), quota="sign_in")
        quota(right)
        assert right.on_success is not None
        right.on_success()
    for _ in range(2):
        quota(call(headed(), quota="sign_in"))
        asked = call(headed(), quota="recovery")
        quota(asked)
        assert asked.on_success is None

    for name in ("sign_in", "recovery"):
        with refused(errors.TOO_MANY_REQUESTS):
            quota(call(headed(), quota=name))


def test_a_known_browser_uses_its_user_s_quota(quota: WithinAddressQuota):
    """Other browsers at the same address do not use it up, and more browsers do not enlarge it."""
    for _ in range(2):
        quota(call(headed(), quota="sign_in"))
    with refused(errors.TOO_MANY_REQUESTS):
        quota(call(headed(), quota="sign_in"))

    for browser in ("a", "b"):
        known = call(headed(), quota="sign_in")
        known.known = KnownBrowser(user_id="u", id=browser)
        quota(known)
    with refused(errors.TOO_MANY_REQUESTS):
        quota(known)
