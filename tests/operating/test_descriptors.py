"""Callers take every file descriptor they can get: operators still reach the process."""

from __future__ import annotations

import asyncio
import re
import resource
import subprocess
from pathlib import Path

import aiohttp
import pytest

from tests.surfaces.processes import GatewaySite, Served, place, served

LIMIT = 256
HELD = 400


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
        shown = await metrics(running)
        again = await running.ask("GET", where.at("/balance"))
        for _, writer in writers:
            writer.close()
        await asyncio.sleep(0.5)
        async with aiohttp.ClientSession() as stranger:
            after = (await stranger.get(f"{where.base_url}/baas/v1/health")).status

    assert (kept.status, again.status, after) == (200, 200, 200)
    assert checks == [200] * 5
    assert refused > HELD - LIMIT
    assert shown["descriptors"] == refused
    assert f"at most {LIMIT} file descriptors" in where.said.read_text()


async def held(where: GatewaySite) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect and say nothing."""
    return await asyncio.open_connection("127.0.0.1", where.ports["PIXGATE_PORT"])


async def closed_by(
    running: Served, held: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
) -> int:
    """Count the connections that the gateway closed on arrival, once it has seen all."""
    await asyncio.sleep(1)
    ended = 0
    for reader, _ in held:
        try:
            async with asyncio.timeout(0.01):
                ended += await reader.read(1) == b""
        except TimeoutError:
            continue
        except ConnectionError:
            ended += 1
    return ended


async def metrics(running: Served) -> dict[str, float]:
    """Return how many connections were turned away, by reason."""
    async with running.session.get(f"{running.where.ops_url}/metrics") as said:
        assert said.status == 200
        text = await said.text()
    found = re.findall(r'connections_turned_away_total\{reason="(\w+)"\} ([\d.]+)', text)
    return {reason: float(value) for reason, value in found}
