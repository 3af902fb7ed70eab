"""The permission matrix, complete."""

import itertools

import pytest

from gateway.domain.accounts.permissions import EVERY_PERMISSION, Action, Permission
from gateway.domain.kernel import errors
from policies.authorization.permission import RequiresPermission
from tests.unit.people import call, principal
from tests.unit.refusals import refused

RANK = {"read": 1, "write": 2, "manage": 3}


def enough(held: Permission, needed: Permission) -> bool:
    """The contract's rule on the words as they are written (5.2)."""
    resource, action = str(needed).split(":")
    own, mine = str(held).split(":")
    return own == resource and RANK[mine] >= RANK[action]


@pytest.mark.parametrize(
    ("held", "needed"), list(itertools.product(EVERY_PERMISSION, repeat=2)), ids=str
)
def test_one_permission_lets_on_exactly_what_it_covers(held: Permission, needed: Permission):
    asking = call(needs=needed, principal=principal(permissions=frozenset({held})))

    if enough(held, needed):
        RequiresPermission()(asking)
    else:
        with refused(errors.PERMISSION_DENIED):
            RequiresPermission()(asking)


@pytest.mark.parametrize("needed", EVERY_PERMISSION, ids=str)
def test_without_a_permission_nothing_is_let_on(needed: Permission):
    with refused(errors.PERMISSION_DENIED) as refusal:
        RequiresPermission()(call(needs=needed, principal=principal(permissions=frozenset())))
    assert (refusal.value.error.status, refusal.value.error.code) == (403, "SVC.AUT.010")


@pytest.mark.parametrize("needed", EVERY_PERMISSION, ids=str)
def test_all_other_resources_together_are_not_enough(needed: Permission):
    others = frozenset(
        Permission(each.resource, Action.MANAGE)
        for each in EVERY_PERMISSION
        if each.resource is not needed.resource
    )

    with refused(errors.PERMISSION_DENIED):
        RequiresPermission()(call(needs=needed, principal=principal(permissions=others)))


def test_one_of_many_is_enough():
    RequiresPermission()(call(needs=EVERY_PERMISSION[7], principal=principal()))


def test_nobody_holds_nothing():
    """A row whose chain forgot to authenticate must not be open."""
    with refused(errors.PERMISSION_DENIED):
        RequiresPermission()(call(needs=EVERY_PERMISSION[0]))


def test_a_row_that_needs_nothing_is_open():
    RequiresPermission()(call())
