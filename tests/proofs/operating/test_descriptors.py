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
from tests.world.waiting import until

LIMIT = 256
HELD = 400


class ShortSite(GatewaySite):
    def start(self, command: str = "serve", *options: str) -> subprocess.Popen[bytes]:
        process = super().start(command, *options)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
        return process


@pytest.fixture
def where(tmp_path: Path) -> GatewaySite:
    made = place(tmp_path, connections_per_address="1000", header_deadline_s="600")
    return ShortSite(folder=made.folder, ports=made.ports, config=made.config)


async def test_the_operations_listener_answers_when_callers_use_every_descriptor(
    where: GatewaySite,
):
    """400 connections, where 256 files leave room for fewer: each refused one is counted."""
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
    return await asyncio.open_connection("127.0.0.1", where.ports["PIXGATE_PORT"])


async def closed_by(
    running: Served, held: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
) -> int:
    """Count the connections that the gateway closed on arrival, once it counts as many."""
    ended: list[int] = []

    async def are_counted() -> bool:
        ended.append(sum(is_closed(reader) for reader, _ in held))
        counted = (await metrics(running)).get("descriptors")
        return ended[-1] > HELD - LIMIT and ended[-1] == counted

    await until(are_counted)
    return ended[-1]


def is_closed(reader: asyncio.StreamReader) -> bool:
    """Has the far end closed the connection, as far as is known here?"""
    return reader.at_eof() or reader.exception() is not None


async def let_in(where: GatewaySite) -> None:
    """Wait until a stranger is served again."""
    async with aiohttp.ClientSession() as stranger:

        async def is_served() -> bool:
            with contextlib.suppress(aiohttp.ClientError):
                async with stranger.get(f"{where.base_url}/baas/v1/health") as said:
                    return said.status == 200
            return False

        await until(is_served)


async def metrics(running: Served) -> dict[str, float]:
    """Return how many connections were turned away, by reason."""
    async with running.session.get(f"{running.where.ops_url}/metrics") as said:
        assert said.status == 200
        text = await said.text()
    found = re.findall(r'connections_turned_away_total\{reason="(\w+)"\} ([\d.]+)', text)
    return {reason: float(value) for reason, value in found}
