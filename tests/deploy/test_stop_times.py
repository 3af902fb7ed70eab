"""Stopping a process allows enough time, also while the store does not answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.app.assembly import assemble
from gateway.config.settings import Server
from gateway.net.server import listener
from gateway.process import periodic_task
from gateway.process.process import Part
from gateway.store.kernel import database
from gateway.telemetry.logs import writer
from tests.deploy.rule_cases import ROOT
from tests.world.containers import CHART, OURS, seconds
from tests.world.gateway.world import sandbox

MARGIN_S = 5
"""For what takes milliseconds on a machine that is not busy."""
CLOSING_S = 2 * listener._CANCELLED_GRACE_S
"""Of a listener: requests that are cancelled, then connections."""
OPERATIONS_S = 1.0
LAST_S = database._LOOKS * database._LOOK_AGAIN_S + writer._LAST_S
"""Units of work in the store, and lines of the log."""


def unit_s(name: str) -> int:
    text = (ROOT / "deploy" / name).read_text()
    (found,) = re.findall(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    return int(found)


async def flushes_s(folder: Path, part: Part) -> float:
    """Return what the last runs of a process's tasks may take together."""
    gateway = assemble(sandbox(folder), {}, with_bank=False, part=part)
    await gateway.kernel.store.close()
    return periodic_task._LAST_RUN_S * sum(task._schedule.finishing for task in gateway.tasks)


async def stop_s(folder: Path, part: Part) -> float:
    """Return how long a stop may take that is not cut short."""
    always = await flushes_s(folder, part) + OPERATIONS_S + CLOSING_S + LAST_S
    if part.works:
        always += database.DEFAULT_LIMITS.whole_s  # the leases that it gives back
    if part.serves:
        server = Server()
        return always + server.drain_accept_s + server.drain_s + CLOSING_S
    return always


@pytest.mark.parametrize(
    ("part", "container", "unit"),
    [
        (Part(), "gateway", "pixgate@.service"),
        (Part(works=False), "gateway", "pixgate@.service"),
        (Part(serves=False), "worker", "pixgate-worker.service"),
    ],
    ids=["both", "server process", "worker"],
)
async def test_a_process_has_enough_time_to_stop(
    tmp_path: Path, part: Part, container: str, unit: str
):
    needed = await stop_s(tmp_path, part) + MARGIN_S

    given = {
        "compose": seconds(OURS[container]["stop_grace_period"]),
        "kubernetes": CHART[container]["terminationGracePeriodSeconds"],
        "systemd": unit_s(unit),
    }
    assert {name: each for name, each in given.items() if each < needed} == {}, needed
