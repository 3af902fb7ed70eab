"""The stub on a free port, on the test's own loop."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bench.stub import Stub

LATENCY_S = 0.05


@pytest.fixture
async def bank_port() -> AsyncIterator[int]:
    """Where the stub listens."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Stub(LATENCY_S), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
