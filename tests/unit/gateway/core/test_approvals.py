"""Which orders hold, and until when a secret can be fetched."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gateway.core.approvals import (
    NEEDED,
    Approval,
    ApprovalKind,
    ApprovalState,
    SecretCollection,
    why_void,
)
from gateway.core.rights import Role
from gateway.core.user import User
from tests.world.people import COMPANY, OTHER_COMPANY
from tests.world.standing import NOON

MARIA = User(
    id="u1",
    email="maria@example.com",
    name="Maria",
    password="",
    roles=frozenset({Role.ADMIN, Role.OPERATOR}),
    companies=frozenset(),
    created_at=NOON,
    updated_at=NOON,
)
ISSUE = Approval(
    id="a1",
    kind=ApprovalKind.CREDENTIAL_ISSUE,
    company_id=COMPANY,
    subject="a1",
    sealed_order=b"",
    ordered_by="u1",
    orderer="user:maria@example.com",
    ordered_at=NOON,
    ends_at=NOON + timedelta(days=3),
)
APPROVED = replace(ISSUE, state=ApprovalState.APPROVED, decided_at=NOON)


def test_every_kind_of_approval_requires_a_right():
    """Except the end of the own second factor."""
    assert set(ApprovalKind) - set(NEEDED) == {ApprovalKind.FACTOR_REMOVAL}


def test_everybody_may_order_the_removal_of_their_own_factor():
    order = replace(ISSUE, kind=ApprovalKind.FACTOR_REMOVAL)

    assert why_void(replace(MARIA, roles=frozenset({Role.VIEWER})), order) == ""
    assert why_void(replace(MARIA, active=False), order)


def test_an_order_is_valid_while_its_orderer_has_the_right():
    for kind in NEEDED:
        order = replace(ISSUE, kind=kind)

        assert why_void(MARIA, order) == ""
        assert why_void(replace(MARIA, companies=frozenset({COMPANY})), order) == ""
        for changed in (
            None,
            replace(MARIA, active=False),
            replace(MARIA, roles=frozenset({Role.VIEWER, Role.APPROVER})),
            replace(MARIA, companies=frozenset({OTHER_COMPANY})),
        ):
            assert why_void(changed, order).startswith("The person who ordered it ")


def test_a_secret_can_be_collected_for_fifteen_minutes():
    assert APPROVED.collected_until == NOON + timedelta(minutes=15)
    assert SecretCollection("a1", NOON).approved_after == NOON - timedelta(minutes=15)


def test_only_an_approved_uncollected_credential_can_be_collected():
    cases = [
        replace(APPROVED, kind=ApprovalKind.CREDENTIAL_LIMITS),
        replace(APPROVED, collected_at=NOON),
        replace(APPROVED, state=ApprovalState.VOID),
        ISSUE,
    ]

    wrong = [other for other in cases if other.collected_until is not None]

    assert wrong == []
