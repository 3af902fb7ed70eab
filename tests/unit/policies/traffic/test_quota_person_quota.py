"""The token buckets of people."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core import errors
from gateway.core.limits import CallRate
from policies.traffic.quota import PERSON, WithinPersonQuota
from tests.unit.refusals import refused
from tests.world.people import call, headed, somebody
from tests.world.standing import Clock


@pytest.fixture
def seen() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def quota(clock: Clock, seen: list[tuple[str, str]]) -> WithinPersonQuota:
    """Two at once, then one every ten seconds."""
    return WithinPersonQuota(
        {PERSON: CallRate(rate=0.1, burst=2)}, clock.monotonic, lambda *each: seen.append(each)
    )


def test_all_sessions_of_a_user_share_one_quota(
    quota: WithinPersonQuota, clock: Clock, seen: list[tuple[str, str]]
):
    """Five sign-ins of one person are no five quotas; another person has one too."""
    maria, joao = somebody(), replace(somebody(), user_id="joao")

    for who in (maria, replace(maria, session_id="another"), joao):
        quota(call(headed(), quota=PERSON, person=who))
    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        quota(call(headed(), quota=PERSON, person=replace(maria, session_id="a third")))
    clock.passes(10)
    quota(call(headed(), quota=PERSON, person=maria))

    assert refusal.value.headers == {
        "Retry-After": "10",
        "RateLimit": '"person";r=0;t=10',
        "RateLimit-Policy": '"person";q=2;w=20',
    }
    assert seen.count(("quota", f"{PERSON}.allowed")) == 4
    assert seen.count(("quota", f"{PERSON}.limited")) == 1


def test_the_remaining_user_quota_is_shown(quota: WithinPersonQuota):
    asking = call(headed(), quota=PERSON, person=somebody())

    quota(asking)

    assert asking.headers == {
        "RateLimit": '"person";r=1;t=10',
        "RateLimit-Policy": '"person";q=2;w=20',
    }


def test_a_route_with_another_quota_does_not_use_the_user_s(
    quota: WithinPersonQuota, seen: list[tuple[str, str]]
):
    """Signing out, first of all."""
    for _ in range(100):
        quota(call(headed(), quota="leaving", person=somebody()))

    assert seen == []


def test_an_unauthenticated_caller_uses_no_user_quota(
    quota: WithinPersonQuota, seen: list[tuple[str, str]]
):
    """A route before a sign-in is counted by address, not here."""
    for _ in range(100):
        quota(call(headed(), quota=PERSON))

    assert seen == []


def test_a_request_costs_one_token_per_bank_read(
    quota: WithinPersonQuota, clock: Clock, seen: list[tuple[str, str]]
):
    """The request pays for the first read; further reads may create a debt."""
    asking = call(headed(), quota=PERSON, person=somebody())
    quota(asking)
    assert asking.on_bank_call is not None
    asking.on_bank_call()
    quota(call(headed(), quota=PERSON, person=somebody()))
    for _ in range(3):
        asking.on_bank_call()

    clock.passes(30)
    with refused(errors.TOO_MANY_REQUESTS):
        quota(call(headed(), quota=PERSON, person=somebody()))
    clock.passes(10)
    quota(call(headed(), quota=PERSON, person=somebody()))
