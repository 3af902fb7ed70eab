"""Callers take every file descriptor they can get: operators still reach the process."""

from __future__ import annotations

import asyncio
import contextlib
import re
import resource
import subprocess
from pathlib import Path

import aiohttp
import pytest

from tests.world.gateway.processes import GatewaySite, Served, place, served

LIMIT = 256
HELD = 400
LATE_S = 50
"""For what takes a moment; the callers' deadline for a header is later."""


class ShortSite(GatewaySite):
    """Its process may have few files open."""

    def start(self, command: str = "serve", *options: str) -> subprocess.Popen[bytes]:
        process = super().start(command, *options)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
        return process


@pytest.fixture
def where(tmp_path: Path) -> GatewaySite:
    made = place(tmp_path, connections_per_address="1000", header_deadline_s="60")
    return ShortSite(folder=made.folder, ports=made.ports, config=made.config)


async def test_the_operations_listener_answers_while_callers_hold_every_descriptor(
    where: GatewaySite,
):
    """400 connections, of which 256 files are room for fewer: each refused one is counted."""
    async with served(where) as running:
        kept = await running.ask("GET", where.at("/balance"))
        writers = [await held(where) for _ in range(HELD)]
        refused = await closed_by(running, writers)
        checks = [await running.ready() for _ in range(5)]
        again = await running.ask("GET", where.at("/balance"))
        for _, writer in writers:
            writer.close()
        await let_in(where)

    assert (kept.status, again.status) == (200, 200)
    assert checks == [200] * 5
    assert refused > HELD - LIMIT
    assert f"at most {LIMIT} file descriptors" in where.said.read_text()


async def held(where: GatewaySite) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect and say nothing."""
    return await asyncio.open_connection("127.0.0.1", where.ports["PIXGATE_PORT"])


async def closed_by(
    running: Served, held: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
) -> int:
    """Count the connections that the gateway closed on arrival, once it counts as many."""
    ended: int = 0
    async with asyncio.timeout(LATE_S):
        while ended <= HELD - LIMIT or ended != (await metrics(running)).get("descriptors"):
            await asyncio.sleep(0.5)
            ended = sum([await is_closed(reader) for reader, _ in held])
    return ended


async def is_closed(reader: asyncio.StreamReader) -> bool:
    """Has the far end closed the connection, as far as is known here?"""
    try:
        async with asyncio.timeout(0.01):
            return await reader.read(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


async def let_in(where: GatewaySite) -> None:
    """Wait until a stranger is served again."""
    async with aiohttp.ClientSession() as stranger, asyncio.timeout(LATE_S):
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with stranger.get(f"{where.base_url}/baas/v1/health") as said:
                    if said.status == 200:
                        return
            await asyncio.sleep(0.1)


async def metrics(running: Served) -> dict[str, float]:
    """Return how many connections were turned away, by reason."""
    async with running.session.get(f"{running.where.ops_url}/metrics") as said:
        assert said.status == 200
        text = await said.text()
    found = re.findall(r'connections_turned_away_total\{reason="(\w+)"\} ([\d.]+)', text)
    return {reason: float(value) for reason, value in found}
