"""Rights and the roles that bundle them."""

from __future__ import annotations

import pytest

from gateway.core.permissions import Action
from gateway.core.rights import (
    RIGHTS,
    STEP_UP,
    Area,
    Right,
    Role,
    may_grant,
    may_write,
    needs_step_up,
    rights_of,
)


def may(role: Role, area: Area, action: Action) -> bool:
    return any(right.covers(Right(area, action)) for right in rights_of([role]))


def test_a_right_is_written_like_a_permission():
    assert str(Right(Area.STOP, Action.WRITE)) == "stop:write"


def test_a_higher_action_covers_the_lower_ones():
    wrong = [
        (held, needed)
        for held in Action
        for needed in Action
        if Right(Area.USER, held).covers(Right(Area.USER, needed)) is not (held >= needed)
    ]

    assert wrong == []


def test_a_right_covers_no_other_area():
    assert not Right(Area.USER, Action.MANAGE).covers(Right(Area.AUDIT, Action.READ))


def test_every_role_has_its_rights():
    assert set(RIGHTS) == set(Role)


def test_a_viewer_changes_nothing():
    assert {right.action for right in RIGHTS[Role.VIEWER]} == {Action.READ}


def test_no_role_both_orders_and_approves():
    """Four eyes: no role both makes a payout and approves it."""
    wrong = [
        role
        for role in Role
        if may(role, Area.PAYOUT, Action.WRITE) and may(role, Area.APPROVAL, Action.WRITE)
    ]

    assert wrong == []


@pytest.mark.parametrize("role", [Role.ADMIN, Role.SECURITY, Role.VIEWER])
def test_roles_that_run_the_service_move_no_money(role: Role):
    assert not any(
        may(role, area, Action.WRITE) for area in (Area.PAYOUT, Area.REFUND, Area.APPROVAL)
    )


def test_every_role_except_approver_may_download_files():
    """Approvers read rows, and need no files."""
    assert {role for role in Role if not may(role, Area.REPORT, Action.READ)} == {Role.APPROVER}


def test_roles_that_order_payouts_look_up_owners_of_keys():
    asking = {role for role in Role if may(role, Area.KEY_OWNER, Action.READ)}

    assert asking == {role for role in Role if may(role, Area.PAYOUT, Action.WRITE)}


def test_several_roles_combine_their_rights():
    both = rights_of([Role.OPERATOR, Role.APPROVER])

    assert both == RIGHTS[Role.OPERATOR] | RIGHTS[Role.APPROVER]


def test_writing_requires_a_fresh_factor_in_listed_areas():
    for area in Area:
        assert needs_step_up(Right(area, Action.WRITE)) is (area in STEP_UP)
        assert not needs_step_up(Right(area, Action.READ))


def test_the_areas_that_require_a_fresh_factor_match_the_documentation():
    """The list of docs/people.md; setting a stop needs none, because it must be quick."""
    asked = {area for area in Area if needs_step_up(Right(area, Action.WRITE))}

    assert asked == {
        Area.ACCOUNT,
        Area.PROVIDER,
        Area.CREDENTIAL,
        Area.ENDPOINT,
        Area.USER,
        Area.PAYOUT,
        Area.REFUND,
        Area.PIX_KEY,
        Area.APPROVAL,
        Area.REVIEW,
        Area.COMPANY,
        Area.SESSION,
    }


@pytest.mark.parametrize(
    ("granter", "lacks"),
    [
        (Role.SECURITY, {Role.ADMIN}),
        (Role.ADMIN, set()),
    ],
)
def test_a_user_manager_can_grant_only_roles_within_their_rights(granter: Role, lacks: set[Role]):
    """Except rights over money, which the approving user must have."""
    assert {role for role in Role if not may_grant({granter}, {role})} == lacks


def test_only_viewers_have_no_write_right():
    assert {role for role in Role if not may_write({role})} == {Role.VIEWER}
    assert not may_write(())
