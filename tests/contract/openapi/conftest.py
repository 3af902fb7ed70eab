"""The gateway these tests call on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from gateway.config.identity import Identity
from tests.world.gateway.world import World, opened, sandbox
from tests.world.gateway.world_fixtures import described_world, prepared

__all__ = ["described_world", "prepared", "world"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway with a name: browsers use no passkeys at an IP address."""
    named = Identity(origin="https://pix.example")
    async with opened(sandbox(tmp_path_factory.mktemp("world"), identity=named)) as made:
        yield made
