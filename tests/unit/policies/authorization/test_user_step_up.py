"""How fresh a second factor must be."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest

from gateway.core.permissions import Action
from gateway.core.rights import STEP_UP, Area, Right
from gateway.core.user_errors import STEP_UP_REQUIRED
from policies.authorization.user import FreshFactor
from tests.unit.refusals import refused
from tests.world.people import call, somebody
from tests.world.standing import NOON, Clock

ISSUE = Right(Area.CREDENTIAL, Action.WRITE)


@pytest.mark.parametrize(
    ("age_s", "reason"), [(0, ""), (300, ""), (300.001, "factor_old"), (86_400, "factor_old")]
)
def test_a_second_factor_is_fresh_for_five_minutes(clock: Clock, age_s: float, reason: str):
    asking = call(needs=ISSUE, person=somebody(factor_at=NOON - timedelta(seconds=age_s)))
    policy = FreshFactor(clock.now)

    if not reason:
        policy(asking)
        return
    with refused(STEP_UP_REQUIRED) as refusal:
        policy(asking)
    assert refusal.value.reason == reason


def test_a_route_may_always_require_a_fresh_second_factor(clock: Clock):
    """Lifting a stop does, though pulling one must be quick."""
    policy = FreshFactor(clock.now, always=True)
    for area, action in itertools.product(Area, Action):
        needs = Right(area, action)

        policy(call(needs=needs, person=somebody(factor_at=NOON)))
        with refused(STEP_UP_REQUIRED):
            policy(call(needs=needs, person=somebody(factor_at=None)))


@pytest.mark.parametrize(
    "fields",
    [{"factor_at": None}, {"has_factor": False}, {"has_factor": False, "factor_at": None}],
    ids=str,
)
def test_a_user_without_a_second_factor_must_enrol_first(clock: Clock, fields: dict[str, object]):
    with refused(STEP_UP_REQUIRED):
        FreshFactor(clock.now)(call(needs=ISSUE, person=somebody(**fields)))


@pytest.mark.parametrize("area", Area)
def test_a_fresh_second_factor_is_required_for_writes_listed_in_the_table(clock: Clock, area: Area):
    """Reading never asks."""
    old = somebody(factor_at=None)
    policy = FreshFactor(clock.now)

    policy(call(needs=Right(area, Action.READ), person=old))
    for action in (Action.WRITE, Action.MANAGE):
        asking = call(needs=Right(area, action), person=old)
        if area not in STEP_UP:
            policy(asking)
            continue
        with refused(STEP_UP_REQUIRED):
            policy(asking)


def test_an_unauthenticated_caller_has_no_fresh_second_factor(clock: Clock):
    with refused(STEP_UP_REQUIRED):
        FreshFactor(clock.now)(call(needs=ISSUE))


def test_an_open_route_requires_no_fresh_second_factor(clock: Clock):
    FreshFactor(clock.now)(call(needs=None))
