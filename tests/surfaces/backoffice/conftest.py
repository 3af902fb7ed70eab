"""The gateway these tests call on, and its people at their desks."""

import pytest_asyncio

from tests.surfaces.backoffice.desk import Desk
from tests.surfaces.stage import world
from tests.surfaces.world import World

__all__ = ["desk", "world"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(world: World) -> Desk:
    """The back office, with nobody signed in yet."""
    return Desk(world)
