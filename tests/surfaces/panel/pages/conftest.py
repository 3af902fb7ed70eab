"""A gateway with its bank, and one person of each role who opens pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from gateway.core.rights import Role
from tests.surfaces.panel.pages.person import Person, age_factors, signed_in
from tests.surfaces.panel.roles import with_every_role
from tests.world.gateway.world import World

MAIN = re.compile(r"<main\b.*</main>", re.DOTALL)
ICON = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Show the main part of a page in which a text is missed or found, without its icons."""
    page, text = str(right), str(left)
    if op not in {"in", "not in"} or not page.startswith("<!doctype html>"):
        return None
    main = MAIN.search(page)
    shown = main[0] if main and (text in main[0]) is (text in page) else page
    return [f"{text!r} {op} the page:", *ICON.sub("", shown).splitlines()]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with with_every_role(tmp_path_factory.mktemp("pages")) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def viewer(world: World) -> Person:
    person = Person(world)
    await person.sign_in("viewer@panel.example")
    return person


@pytest.fixture(scope="module")
def seated() -> dict[Role, Person]:
    """Signed-in people of a module, each once."""
    return {}


async def _fresh(world: World, seated: dict[Role, Person], role: Role) -> Person:
    """Return the person of a role, whose second factor was given a moment ago."""
    if role not in seated:
        seated[role] = await signed_in(world, role)
    await age_factors(world, timedelta())
    return seated[role]


@pytest_asyncio.fixture(loop_scope="module")
async def operator(world: World, seated: dict[Role, Person]) -> Person:
    return await _fresh(world, seated, Role.OPERATOR)


@pytest_asyncio.fixture(loop_scope="module")
async def approver(world: World, seated: dict[Role, Person]) -> Person:
    return await _fresh(world, seated, Role.APPROVER)


@pytest_asyncio.fixture(loop_scope="module")
async def keeper(world: World, seated: dict[Role, Person]) -> Person:
    return await _fresh(world, seated, Role.SECURITY)


@pytest_asyncio.fixture(loop_scope="module")
async def admin(world: World, seated: dict[Role, Person]) -> Person:
    return await _fresh(world, seated, Role.ADMIN)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everybody(world: World) -> Person:
    """A user who may open every page."""
    return await signed_in(world, *Role)
