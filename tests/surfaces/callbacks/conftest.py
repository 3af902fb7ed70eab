"""The gateway that banks tell things to, and its people at their desks."""

import pytest_asyncio

from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import World
from tests.world.gateway.world_fixtures import world

__all__ = ["backoffice_client", "world"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backoffice_client(world: World) -> BackofficeClient:
    """The back office, without a signed-in user."""
    return BackofficeClient(world)
