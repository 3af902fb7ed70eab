"""The gateway of a test module: started once, shared by its tests, ended behind the last one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.world.gateway.world import World, opened, sandbox


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway on the embedded sandbox; its tests run on the module's loop."""
    folder: Path = tmp_path_factory.mktemp("world")
    async with opened(sandbox(folder)) as made:
        yield made
