"""Orders about credentials and people come back as they were written."""

from __future__ import annotations

import pytest

from gateway.domain.accounts.credentials import UNLIMITED, CredentialLimits
from gateway.domain.backoffice.access_orders import (
    BackOfficeOrder,
    CredentialIssue,
    CredentialRotation,
    FactorReset,
    Invitation,
    LimitsChange,
    RoleGrant,
    kind_of,
    read,
    written,
)
from gateway.domain.backoffice.approvals import ApprovalKind
from gateway.domain.identity.rights import Role
from gateway.domain.kernel.money import Money
from tests.unit.standing import NOON

LIMITS = CredentialLimits(per_payout=Money(1050), per_day=None)
ORDERS: list[BackOfficeOrder] = [
    CredentialIssue(
        name="ERP ção",
        company_id="c",
        account_id="a",
        permissions=["withdraw:write"],
        expires_at=NOON,
        limits=LIMITS,
    ),
    CredentialIssue(name="n", company_id="c", permissions=[], limits=UNLIMITED),
    CredentialRotation(client_id="cli_a", overlap_s=60),
    LimitsChange(client_id="cli_a", limits=LIMITS),
    Invitation(email="a@example.com", name="A", roles=[Role.OPERATOR], companies=["c"]),
    RoleGrant(user_id="u", email="a@example.com", roles=[Role.ADMIN, Role.VIEWER]),
    FactorReset(user_id="u", email="a@example.com"),
]


@pytest.mark.parametrize("order", ORDERS, ids=lambda each: type(each).__name__)
def test_what_is_written_is_read_back(order: BackOfficeOrder):
    assert read(written(order)) == order


def test_every_kind_but_money_is_an_order_here():
    money = {ApprovalKind.PAYOUT, ApprovalKind.REFUND}

    assert {kind_of(each) for each in ORDERS} == set(ApprovalKind) - money
