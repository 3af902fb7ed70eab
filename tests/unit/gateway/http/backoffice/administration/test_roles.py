"""Roles and their rights."""

from __future__ import annotations

from gateway.domain.identity.rights import RIGHTS
from tests.unit.gateway.http.backoffice.surface import ROWS, STAFF, line


def test_the_row_is_the_one_decided():
    assert line("roles") == ("GET", "/roles", "user:read", 200)


async def test_the_table_of_roles_is_the_one_there_is():
    row = ROWS["backoffice.roles"]

    shown = await row.serve(STAFF, None)  # type: ignore[arg-type]

    assert {each["name"]: set(each["rights"]) for each in shown["data"]} == {  # type: ignore[index]
        role: set(map(str, rights)) for role, rights in RIGHTS.items()
    }
