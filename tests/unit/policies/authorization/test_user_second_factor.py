"""Whose role asks for a second factor."""

from __future__ import annotations

import itertools

import pytest

from gateway.core.permissions import Action
from gateway.core.rights import Area, Right, Role
from gateway.core.user_errors import STEP_UP_REQUIRED
from policies.authorization.user import RequiresSecondFactor
from tests.unit.refusals import refused
from tests.world.people import call, somebody


def test_a_user_without_a_second_factor_may_only_read():
    """Reading is free; whatever writes is refused until the person has enrolled."""
    policy = RequiresSecondFactor([Role.OPERATOR])
    for area, action in itertools.product(Area, Action):
        asking = call(needs=Right(area, action), person=somebody(Role.OPERATOR, has_factor=False))

        if action is Action.READ:
            policy(asking)
            continue
        with refused(STEP_UP_REQUIRED) as refusal:
            policy(asking)
        assert refusal.value.reason == "no_factor"
        assert "enrol" in refusal.value.detail


@pytest.mark.parametrize(
    ("roles", "demanding", "is_let_on"),
    [
        ([Role.OPERATOR], [], True),
        ([Role.OPERATOR], [Role.ADMIN], True),
        ([Role.OPERATOR, Role.ADMIN], [Role.ADMIN], False),
        ([Role.OPERATOR], Role, False),
    ],
    ids=str,
)
def test_one_role_requiring_a_second_factor_is_enough(roles, demanding, is_let_on):
    asking = call(needs=Right(Area.STOP, Action.WRITE), person=somebody(*roles, has_factor=False))

    if is_let_on:
        RequiresSecondFactor(demanding)(asking)
        return
    with refused(STEP_UP_REQUIRED):
        RequiresSecondFactor(demanding)(asking)


def test_a_user_with_a_second_factor_and_an_open_route_are_accepted():
    policy = RequiresSecondFactor(Role)

    policy(call(needs=Right(Area.STOP, Action.WRITE), person=somebody(Role.ADMIN)))
    policy(call(needs=None))
