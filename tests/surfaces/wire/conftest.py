"""The gateway whose connections are segments."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from tests.world.gateway.segments import Gateway, without_sockets
from tests.world.gateway.world import World, opened, sandbox


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def waiting_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway that waits for its callers as long as it takes; no payout settles meanwhile."""
    settings = sandbox(tmp_path_factory.mktemp("world"))
    server = msgspec.structs.replace(
        settings.server, header_deadline_s=600, body_deadline_s=600, keep_alive_s=600
    )
    bank = msgspec.structs.replace(settings.sandbox_bank, settle_after_s=86_400)
    kept = msgspec.structs.replace(settings, server=server, sandbox_bank=bank)
    async with opened(kept) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reached(waiting_world: World) -> AsyncIterator[Gateway]:
    async with without_sockets(waiting_world) as gateway:
        yield gateway
