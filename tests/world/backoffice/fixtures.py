"""The gateway these tests call on, and its people at their desks."""

import pytest_asyncio

from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import World


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backoffice_client(world: World) -> BackofficeClient:
    """The back office, without a signed-in user."""
    return BackofficeClient(world)
