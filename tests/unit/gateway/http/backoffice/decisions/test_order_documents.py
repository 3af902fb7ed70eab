"""Whoever decides about a person reads what they are to be, and where."""

from __future__ import annotations

import pytest

from gateway.domain.backoffice.access_orders import (
    BackOfficeOrder,
    CompaniesGrant,
    Enabling,
    FactorReset,
    Invitation,
    RoleGrant,
)
from gateway.domain.identity.rights import Role
from gateway.http.backoffice.decisions.order_documents import ordered
from tests.world.standing import NOON

WHO = {"user_id": "u", "email": "a@example.com"}
OPERATOR = [Role.OPERATOR]


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        (
            Invitation(email="a@example.com", name="A", roles=OPERATOR, companies=["c"]),
            {"email": "a@example.com", "name": "A", "roles": ["operator"], "companies": ["c"]},
        ),
        (
            RoleGrant(**WHO, roles=OPERATOR, companies=["c"]),
            {**WHO, "roles": ["operator"], "companies": ["c"]},
        ),
        (RoleGrant(**WHO, roles=OPERATOR), {**WHO, "roles": ["operator"]}),
        (
            CompaniesGrant(**WHO, roles=OPERATOR, companies=[], companies_before=["c"]),
            {**WHO, "roles": ["operator"], "companies": [], "companies_before": ["c"]},
        ),
        (
            Enabling(**WHO, roles=OPERATOR, companies=["c"], changed_at=NOON),
            {**WHO, "roles": ["operator"], "companies": ["c"]},
        ),
        (FactorReset(**WHO), WHO),
    ],
)
def test_an_order_about_a_person_says_what_they_are_to_be(
    order: BackOfficeOrder, shown: dict[str, object]
):
    assert ordered(order) == shown
