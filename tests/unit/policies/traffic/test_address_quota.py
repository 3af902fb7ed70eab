"""Token buckets of addresses."""

from __future__ import annotations

import pytest

from gateway.domain import errors
from policies.traffic.address_quota import WithinAddressQuota
from policies.traffic.quota import Quota
from tests.unit.people import call, headed
from tests.unit.refusals import refused
from tests.unit.standing import Clock


@pytest.fixture
def seen() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def quota(clock: Clock, seen: list[tuple[str, str]]) -> WithinAddressQuota:
    """Two at once, then one every ten seconds."""
    quotas = {"sign_in": Quota(0.1, 2)}
    return WithinAddressQuota(quotas, clock.monotonic, lambda *each: seen.append(each))


def test_an_address_draws_from_its_own_bucket(
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
    assert seen.count(("quota_allowed", "sign_in")) == 4
    assert seen.count(("quota_limited", "sign_in")) == 1


def test_a_row_without_a_bucket_is_free(quota: WithinAddressQuota, seen: list[tuple[str, str]]):
    for _ in range(100):
        quota(call(headed(), quota="own"))

    assert seen == []
