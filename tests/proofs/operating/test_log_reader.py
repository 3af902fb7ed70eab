"""A log collector that hangs does not affect requests."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.proofs.operating.units import site
from tests.world.extent import WHOLE
from tests.world.gateway.processes import GatewaySite
from tests.world.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the size of a pipe is Linux's")

CALLS = 500 if WHOLE else 100
"""Ten lines fill the pipe."""


@pytest.fixture
def unread() -> Iterator[int]:
    """A pipe that holds ten lines, without a reader."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    yield writer
    os.close(reader)
    os.close(writer)


async def call(where: GatewaySite, times: int) -> set[int]:
    """Call so often, each time on a new connection; return which statuses were answered."""
    statuses = set()
    for _ in range(times):
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{where.base_url}/baas/v1/health") as said,
        ):
            statuses.add(said.status)
    return statuses


async def is_alive(url: str) -> bool:
    """Does a process answer on its operations listener?"""
    try:
        async with aiohttp.ClientSession() as session, session.get(url) as said:
            return said.status == 200
    except aiohttp.ClientError:
        return False


async def test_a_process_with_an_unread_log_serves_and_stops_in_time(tmp_path: Path, unread: int):
    where = site(tmp_path)
    process = where.start(onto=unread)
    try:
        await until(lambda: is_alive(f"{where.ops_url}/readyz"))

        statuses = await call(where, CALLS)
        lives = await is_alive(f"{where.ops_url}/livez")
        process.send_signal(signal.SIGTERM)
        ended = await asyncio.to_thread(process.wait)
    finally:
        process.kill()
        process.wait()

    assert (statuses, lives, ended) == ({200}, True, 0)
