"""Right and second factor of a user, as policies and services check them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right, Role
from gateway.core.user_access import FRESH, check_enrolled, check_fresh_factor, check_right
from tests.world.people import somebody
from tests.world.standing import NOON

READ, WRITE = (Right(Area.STOP, action) for action in (Action.READ, Action.WRITE))
BARE = replace(somebody(Role.OPERATOR), has_factor=False, factor_at=None)


def test_a_role_s_rights_are_checked():
    check_right(BARE, READ)
    check_right(BARE, WRITE)
    with pytest.raises(ServiceError) as refused:
        check_right(replace(BARE, roles=frozenset({Role.VIEWER})), WRITE)
    assert refused.value.reason == "permission"


def test_a_role_that_requires_a_factor_can_only_read_without_one():
    check_enrolled(BARE, READ, {Role.OPERATOR})
    check_enrolled(BARE, WRITE, {Role.ADMIN})
    with pytest.raises(ServiceError) as refused:
        check_enrolled(BARE, WRITE, {Role.OPERATOR})
    assert refused.value.reason == "no_factor"


def test_a_factor_is_fresh_for_five_minutes():
    given = replace(BARE, has_factor=True, factor_at=NOON)

    check_fresh_factor(given, NOON + FRESH)
    for person, at, reason in (
        (given, NOON + FRESH + timedelta(seconds=1), "factor_old"),
        (given, NOON - FRESH - timedelta(seconds=1), "factor_old"),
        (BARE, NOON, "no_factor"),
        (replace(given, has_factor=False), NOON, "no_factor"),
    ):
        with pytest.raises(ServiceError) as refused:
            check_fresh_factor(person, at)
        assert refused.value.reason == reason
