"""The periodic tasks of a process: of a server process, of a worker, or of one that is both."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from gateway.app.assembly import assemble
from gateway.app.background import _PRESENCE
from gateway.core.storage import LEASE
from gateway.process.process import ALONE, Part
from gateway.telemetry.metrics import series
from tests.world.gateway.world import sandbox

EVERYWHERE = ["change feed", "cache", "store", "charges", "provider minutes", "processes"]
BESIDE_REQUESTS = [
    "audit tally",
    "request log",
    "readings",
    "last uses",
    "waiting events",
    "feed readers",
    "reset links",
]
WORK = [
    "unsettled payouts",
    "callbacks",
    "deliveries",
    "notifications",
    "push",
    "chats",
    "gauges",
    "audit",
    "outflow guard",
    "foreign debits",
    "payment walks",
    "days",
    "presence",
    "recall",
    "mail",
    "missed events",
    "approvals",
    "files of payouts",
    "ends of files",
    "figures",
    "endpoints",
    "expiring credentials",
    "old sign-ins",
    "sandbox accounts",
    "retention",
]


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        (ALONE, [*EVERYWHERE, *BESIDE_REQUESTS, *WORK, "tasks"]),
        (Part(works=False), [*EVERYWHERE, *BESIDE_REQUESTS, "worker", "tasks"]),
        (Part(serves=False), [*EVERYWHERE, *WORK, "tasks"]),
    ],
    ids=["both", "server process", "worker"],
)
async def test_each_kind_of_process_has_its_background_tasks(
    tmp_path: Path, part: Part, wanted: list[str]
):
    """A task missing in both parts would never run."""
    gateway = assemble(sandbox(tmp_path), {}, with_bank=False, part=part)

    names = [task.name for task in gateway.tasks]

    await gateway.kernel.store.close()
    assert names == wanted
    assert {*names} <= {*(series.TASK.values or ()), "tasks"}


async def test_every_task_exports_how_long_it_has_failed(tmp_path: Path):
    """A task that always fails must not be visible only in the log."""
    gateway = assemble(sandbox(tmp_path), {}, with_bank=False)
    *tasks, watched = gateway.tasks
    for task in tasks:
        task._fails_since = asyncio.get_running_loop().time() - 60

    await watched._run_once()

    of_tasks = gateway.telemetry.values.cells(series.TASK_FAILING)
    failing = {task: cell.value for (task,), cell in of_tasks.items()}
    await gateway.kernel.store.close()
    assert {name for name, failing_s in failing.items() if failing_s >= 60} == {
        task.name for task in tasks
    }
    assert [name for name, failing_s in failing.items() if not failing_s] == ["event loop lag"]


async def test_every_task_exports_its_last_success(tmp_path: Path):
    """A hanging task never fails; the figure is read on the scrape's thread."""
    gateway = assemble(sandbox(tmp_path), {}, with_bank=False)
    for task in (gateway.telemetry.lag.task, *gateway.tasks):
        task._succeeded_at = task._clock() - 60

    text, _ = await asyncio.to_thread(gateway.telemetry.values.render)

    await gateway.kernel.store.close()
    ages = re.findall(
        r'^pixgate_task_success_age_seconds\{task="(.+)"\} (\S+)', text.decode(), re.MULTILINE
    )
    watched = {task.name for task in gateway.tasks} - {"tasks"} | {"event loop lag"}
    assert {name for name, age_s in ages if 60 <= float(age_s) < 3600} == watched


def test_a_worker_s_presence_is_renewed_before_its_lease_ends():
    """Even if another task takes long, such as mail waiting a minute for its server."""
    assert _PRESENCE.every_s <= LEASE.total_seconds() / 2
    assert _PRESENCE.backoff_to_s is None
