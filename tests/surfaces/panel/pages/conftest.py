"""A gateway with its bank, and one person of each role who opens pages."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.surfaces.panel.pages.person import Person
from tests.surfaces.panel.roles import with_every_role
from tests.world.gateway.world import World


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with with_every_role(tmp_path_factory.mktemp("pages")) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def viewer(world: World) -> Person:
    person = Person(world)
    await person.sign_in("viewer@panel.example")
    return person
