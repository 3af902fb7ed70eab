"""A process that is killed between the answer of an endpoint and its note delivers again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from gateway.app.failpoints import VARIABLE
from gateway.deliveries.store import CLAIM
from gateway.process.process import OFFSET
from tests.world.deliveries import receiving
from tests.world.gateway.processes import GatewaySite, place, served
from tests.world.gateway.world import FROM_NOON
from tests.world.tree import ROOT

BEHIND_THE_CLAIM = str(float(FROM_NOON[OFFSET]) + 2 * CLAIM.total_seconds())


def add_endpoint(where: GatewaySite, url: str) -> None:
    """Add an endpoint of the main company on the command line."""
    company = where.demo["companies"]["main"]["id"]
    arguments = ["endpoint", "add", "--config", where.config, "--company", company, "--url", url]
    subprocess.run(
        [sys.executable, "-m", "gateway", *arguments],
        check=True,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **FROM_NOON, "PIXGATE_VAR": str(where.folder)},
    )


async def test_a_delivery_is_sent_again_with_its_id_after_a_kill(tmp_path: Path):
    """The ping of a new endpoint: the process sends it by itself, and dies at the answer."""
    where = place(tmp_path, allow_local="true")
    async with served(where):
        pass
    async with receiving() as receiver:
        await asyncio.to_thread(add_endpoint, where, receiver.url)
        where.environ[VARIABLE] = "after_delivery"
        dying = where.start()
        code = await asyncio.to_thread(dying.wait)
        del where.environ[VARIABLE]
        where.environ[OFFSET] = BEHIND_THE_CLAIM
        async with served(where):
            first, second = await receiver.until_came(2)

    assert code == -signal.SIGKILL
    assert (second.id, second.body) == (first.id, first.body)
    assert second.headers["webhook-signature"] != first.headers["webhook-signature"]
