"""Orders about people come back as they were written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec

from gateway.core.approvals import CREDENTIALS, MONEY, ApprovalKind
from gateway.core.rights import Role
from gateway.core.user import User
from gateway.identity.access_changes import (
    BackOfficeOrder,
    CompaniesGrant,
    Enabling,
    FactorReset,
    Invitation,
    RoleGrant,
    read,
    still_fits,
    written,
)
from tests.world.standing import NOON

EMAIL = "a@example.com"
GRANT = RoleGrant(user_id="u", email=EMAIL, roles=[Role.ADMIN], companies=["a", "b"])
WIDENING = CompaniesGrant(
    user_id="u", email=EMAIL, roles=[Role.OPERATOR], companies=[], companies_before=["a", "b"]
)
ENABLING = Enabling(
    user_id="u", email=EMAIL, roles=[Role.OPERATOR], companies=["a", "b"], changed_at=NOON
)
RESET = FactorReset(user_id="u", email=EMAIL)
ORDERS: list[BackOfficeOrder] = [
    Invitation(email="a@example.com", name="A", roles=[Role.OPERATOR], companies=["c"]),
    RoleGrant(user_id="u", email="a@example.com", roles=[Role.ADMIN, Role.VIEWER]),
    GRANT,
    WIDENING,
    ENABLING,
    RESET,
]


def test_what_is_written_is_read_back():
    wrong = [order for order in ORDERS if read(written(order)) != order]

    assert wrong == []


def test_every_kind_about_people_is_an_order_here():
    kinds = {ApprovalKind(str(each.__struct_config__.tag)) for each in ORDERS}

    assert kinds == set(ApprovalKind) - MONEY - CREDENTIALS - {ApprovalKind.ACCOUNT_BANK}


def test_an_order_of_a_release_that_noted_no_companies_is_read():
    text = '{"type":"roles","user_id":"u","email":"a@example.com","roles":["admin"]}'

    order = read(text)

    assert isinstance(order, RoleGrant)
    assert order.companies is None
    assert still_fits(order, person(companies=frozenset()))


def person(**changed: Any) -> User:
    """An operator of two companies."""
    user = User(
        id="u",
        email=EMAIL,
        name="A",
        password="",
        roles=frozenset({Role.OPERATOR}),
        companies=frozenset("ab"),
        created_at=NOON,
        updated_at=NOON,
    )
    return replace(user, **changed)


LATER = NOON + timedelta(seconds=1)
MORE = frozenset({Role.OPERATOR, Role.SECURITY})


def test_an_order_fits_while_it_gives_no_more_than_it_said():
    cases = [
        (GRANT, {}, True),
        (GRANT, {"companies": frozenset("a")}, True),
        (GRANT, {"companies": frozenset("abc")}, False),
        (GRANT, {"companies": frozenset()}, False),
        (GRANT, {"roles": MORE}, True),
        (msgspec.structs.replace(GRANT, companies=[]), {"companies": frozenset()}, True),
        (WIDENING, {"updated_at": LATER}, True),
        (WIDENING, {"companies": frozenset()}, True),
        (WIDENING, {"companies": frozenset("a")}, False),
        (WIDENING, {"roles": MORE}, False),
        (WIDENING, {"roles": frozenset({Role.VIEWER})}, False),
        (WIDENING, {"roles": frozenset[Role]()}, True),
        (ENABLING, {"active": False}, True),
        (ENABLING, {"active": False, "updated_at": LATER}, False),
        (ENABLING, {"active": True, "updated_at": LATER}, True),
        (RESET, {"companies": frozenset(), "roles": MORE, "updated_at": LATER}, True),
    ]

    wrong = [
        (order, changed, fits)
        for order, changed, fits in cases
        if still_fits(order, person(**changed)) is not fits
    ]

    assert wrong == []
