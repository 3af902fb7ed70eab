"""The rows of companies."""

from __future__ import annotations

import pytest

from gateway.domain.identity.rights import Area
from gateway.http.backoffice import cells
from gateway.http.backoffice.administration.companies import (
    CompanyBody,
    create_company,
    list_companies,
    read_company,
)
from tests.unit.gateway.http.backoffice.registers import FIRST, AdminWorld, turned_down
from tests.unit.gateway.http.backoffice.surface import line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("companies", ("GET", "/companies", "company:read", 200)),
        ("company", ("GET", "/companies/{company_id}", "company:read", 200)),
        ("company_create", ("POST", "/companies", "company:manage", 201)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


async def test_a_person_is_shown_their_companies_alone(admin_world: AdminWorld):
    limited, read = admin_world.staff(admin_world.ours.id), admin_world.does(read_company)

    shown = (await admin_world.does(list_companies)(limited, FIRST)).items

    assert shown == [admin_world.ours]
    assert await read(limited, admin_world.ours.id) == admin_world.ours
    hidden = await turned_down(read(limited, admin_world.theirs.id))
    assert hidden == await turned_down(read(limited, "0" * 8)) == "404 NOT_FOUND"


async def test_who_is_limited_adds_none(admin_world: AdminWorld):
    """The gate refuses, since they have no such right."""
    made = await admin_world.does(create_company)(admin_world.staff(), CompanyBody(name="Nova"))

    assert made in (await admin_world.does(list_companies)(admin_world.staff(), FIRST)).items
    assert (await admin_world.acts())[-1] == ("user:ana@example.com", "company.created")
    needed = cells.managing(Area.COMPANY)
    assert admin_world.staff().person.may(needed)
    assert not admin_world.staff(admin_world.ours.id).person.may(needed)
