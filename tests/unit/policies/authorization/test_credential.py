"""The permission matrix, complete."""

import itertools

from gateway.core import errors
from gateway.core.permissions import EVERY_PERMISSION, Action, Permission
from policies.authorization.credential import RequiresPermission
from tests.unit.refusals import refusal_of, refused
from tests.world.people import call, principal

RANK = {"read": 1, "write": 2, "manage": 3}


def enough(held: Permission, needed: Permission) -> bool:
    """The contract's rule on the words as they are written (5.2)."""
    resource, action = str(needed).split(":")
    own, mine = str(held).split(":")
    return own == resource and RANK[mine] >= RANK[action]


def is_let_on(needed: Permission, *held: Permission) -> bool:
    """Ask the policy; it refuses in one way alone."""
    asking = call(needs=needed, principal=principal(permissions=frozenset(held)))
    refusal = refusal_of(lambda: RequiresPermission()(asking))
    assert refusal in {None, errors.PERMISSION_DENIED}
    return refusal is None


def test_one_permission_allows_exactly_its_routes():
    wrong = [
        f"{held} on {needed}"
        for held, needed in itertools.product(EVERY_PERMISSION, repeat=2)
        if is_let_on(needed, held) is not enough(held, needed)
    ]

    assert wrong == []


def test_no_permission_allows_no_route():
    refusal = errors.PERMISSION_DENIED

    assert [str(needed) for needed in EVERY_PERMISSION if is_let_on(needed)] == []
    assert (refusal.status, refusal.code) == (403, "SVC.AUT.010")


def test_permissions_on_other_resources_are_not_enough():
    others = {
        needed: [
            Permission(each.resource, Action.MANAGE)
            for each in EVERY_PERMISSION
            if each.resource is not needed.resource
        ]
        for needed in EVERY_PERMISSION
    }

    assert [str(needed) for needed, held in others.items() if is_let_on(needed, *held)] == []


def test_one_matching_permission_is_enough():
    RequiresPermission()(call(needs=EVERY_PERMISSION[7], principal=principal()))


def test_an_unauthenticated_caller_has_no_permission():
    """A route whose chain forgot to authenticate must not be open."""
    with refused(errors.PERMISSION_DENIED):
        RequiresPermission()(call(needs=EVERY_PERMISSION[0]))


def test_a_route_without_a_required_permission_is_open():
    RequiresPermission()(call())
