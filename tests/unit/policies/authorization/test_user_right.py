"""Roles against rights, complete."""

from __future__ import annotations

import itertools

from gateway.core.calls import Call
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.rights import RIGHTS, Area, Right, Role
from gateway.core.user_errors import FORBIDDEN
from policies.authorization.user import RequiresRight
from tests.unit.refusals import refusal_of, refused
from tests.world.people import call, principal, somebody

EVERY_RIGHT = [Right(area, action) for area in Area for action in Action]


def allowed(role: Role, needed: Right) -> bool:
    """Say what the table says, in words."""
    held = {str(each) for each in RIGHTS[role]}
    order = ["read", "write", "manage"]
    area, action = str(needed).split(":")
    return any(f"{area}:{each}" in held for each in order[order.index(action) :])


def is_let_on(asking: Call) -> bool:
    """Ask the policy; it refuses in one way alone."""
    refusal = refusal_of(lambda: RequiresRight()(asking))
    assert refusal in {None, FORBIDDEN}
    return refusal is None


def test_each_role_is_accepted_exactly_where_the_table_allows_it():
    wrong = [
        f"{role} on {needed}"
        for role, needed in itertools.product(Role, EVERY_RIGHT)
        if is_let_on(call(needs=needed, person=somebody(role))) is not allowed(role, needed)
    ]

    assert wrong == []


def test_several_roles_combine_their_rights():
    needed = Right(Area.PAYOUT, Action.WRITE)

    RequiresRight()(call(needs=needed, person=somebody(Role.SECURITY, Role.OPERATOR)))


def test_unauthenticated_callers_and_partners_have_no_user_right():
    """A route whose chain forgot to authenticate must not be open."""
    asking = [
        each
        for needed in EVERY_RIGHT
        for each in (call(needs=needed), call(needs=needed, principal=principal()))
    ]

    assert [each for each in asking if is_let_on(each)] == []


def test_a_credential_permission_does_not_count_as_a_user_right():
    needed = Permission(Resource.BALANCE, Action.READ)

    with refused(FORBIDDEN):
        RequiresRight()(call(needs=needed, person=somebody()))


def test_a_route_without_a_required_right_is_open():
    RequiresRight()(call(needs=None))
