"""The gateway of a test module: started once, shared by its tests, ended behind the last one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from gateway.config.settings import Database, Settings
from gateway.config.values import Address
from tests.world.gateway import routes
from tests.world.gateway.world import World, hurried, opened, sandbox


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway on the embedded sandbox; its tests run on the module's loop."""
    folder: Path = tmp_path_factory.mktemp("world")
    async with opened(sandbox(folder)) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def described_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway that serves its OpenAPI documents too: to make them takes a start 0.2 s."""
    settings = sandbox(tmp_path_factory.mktemp("described"))
    server = msgspec.structs.replace(settings.server, openapi=True)
    async with opened(msgspec.structs.replace(settings, server=server)) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hurried_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway that gives up on a silent bank after a second: for tests of silence alone."""
    async with opened(hurried(sandbox(tmp_path_factory.mktemp("hurried")))) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def prepared(world: World) -> None:
    await routes.prepared(world)


@pytest.fixture(params=["sqlite", "postgres"])
def settings_on_either_store(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """The sandbox's settings on each kind of store, for a gateway of the test's own."""
    if request.param == "sqlite":
        return sandbox(tmp_path)
    url = Address(request.getfixturevalue("migrated_postgres_url"))
    database = Database(url=url, auth_timeout_s=60, timeout_s=60, migrate="always")
    return sandbox(tmp_path, database=database)
