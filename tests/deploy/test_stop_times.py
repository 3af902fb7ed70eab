"""Whoever stops a process waits as long as it may take, also where the store says nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.app.assembly import assemble
from gateway.cli.serve import parent
from gateway.config.settings import Server
from gateway.net.server import listener
from gateway.runtime import periodic_task
from gateway.runtime.process import Part
from gateway.store.kernel import database
from gateway.telemetry.logs import writer
from tests.deploy.containers import OURS, PODS, seconds
from tests.deploy.rule_cases import ROOT
from tests.world.gateway.world import sandbox

MARGIN_S = 5
"""For what takes milliseconds on a machine that is not busy."""
CLOSING_S = 2 * listener._CANCELLED_GRACE_S
"""Of a listener: requests that are cancelled, then connections."""
OPERATIONS_S = 1.0
LAST_S = database._LOOKS * database._LOOK_AGAIN_S + writer._LAST_S
"""Units of work in the store, and lines of the log."""


def unit(name: str) -> int:
    text = (ROOT / "deploy" / name).read_text()
    (found,) = re.findall(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    return int(found)


async def flushes_s(folder: Path, part: Part) -> float:
    """Return what the last runs of a process's tasks may take together."""
    gateway = assemble(sandbox(folder), {}, with_bank=False, part=part)
    tasks = [*gateway.tasks, *(gateway.rooms.identity.tasks if part.serves else ())]
    await gateway.kernel.store.close()
    return periodic_task._LAST_RUN_S * sum(task._schedule.finishing for task in tasks)


async def stop_s(folder: Path, *, serves: bool) -> float:
    """Return how long a stop may take that is not cut short."""
    flushes = await flushes_s(folder, Part(works=not serves, serves=serves))
    always = flushes + OPERATIONS_S + CLOSING_S + LAST_S
    if serves:
        server = Server()
        return always + server.drain_accept_s + server.drain_s + CLOSING_S
    # The request log of its server processes, and the leases that it gives back.
    return always + periodic_task._LAST_RUN_S + database.DEFAULT_LIMITS.whole_s


@pytest.mark.parametrize("serves", [True, False], ids=["gateway", "worker"])
async def test_a_container_is_waited_for(tmp_path: Path, serves: bool):
    needed = await stop_s(tmp_path, serves=serves) + MARGIN_S

    name = "gateway" if serves else "worker"
    pod = PODS["pixgate" if serves else "pixgate-worker"]
    assert seconds(OURS[name]["stop_grace_period"]) >= needed
    assert pod["terminationGracePeriodSeconds"] >= needed


async def test_a_unit_is_waited_for(tmp_path: Path):
    """A supervisor stops its worker last."""
    server = await stop_s(tmp_path, serves=True)
    worker = await stop_s(tmp_path, serves=False)

    assert unit("pixgate.service") >= server + worker + MARGIN_S
    assert unit("pixgate-worker.service") >= worker + MARGIN_S


async def test_a_process_without_its_supervisor_has_the_same_time(tmp_path: Path):
    drained = Server().drain_accept_s + Server().drain_s

    assert await stop_s(tmp_path, serves=True) - drained <= parent._LAST_S
