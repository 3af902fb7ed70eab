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
from tests.unit.gateway.http.backoffice.registers import FIRST, Stage, turned_down
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


async def test_a_person_is_shown_their_companies_alone(stage: Stage):
    limited, read = stage.staff(stage.ours.id), stage.does(read_company)

    shown = (await stage.does(list_companies)(limited, FIRST)).items

    assert shown == [stage.ours]
    assert await read(limited, stage.ours.id) == stage.ours
    hidden = await turned_down(read(limited, stage.theirs.id))
    assert hidden == await turned_down(read(limited, "0" * 8)) == "404 NOT_FOUND"


async def test_who_is_limited_adds_none(stage: Stage):
    """The gate refuses, since they have no such right."""
    made = await stage.does(create_company)(stage.staff(), CompanyBody(name="Nova"))

    assert made in (await stage.does(list_companies)(stage.staff(), FIRST)).items
    assert (await stage.acts())[-1] == ("user:ana@example.com", "company.created")
    needed = cells.managing(Area.COMPANY)
    assert stage.staff().person.may(needed)
    assert not stage.staff(stage.ours.id).person.may(needed)
