"""Operators beside a running gateway: two processes, one store, one bank."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.world.gateway.processes import ROOT, Served, place, served, today
from tests.world.gateway.world import order


async def typed(there: Served, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder and on the ports of a gateway."""
    ports = {name: str(port) for name, port in there.where.ports.items()}
    environ = {**os.environ, **ports, "PIXGATE_VAR": str(there.where.folder)}
    command = [sys.executable, "-m", "gateway", *arguments, "--config", str(there.where.config)]
    return await asyncio.to_thread(
        subprocess.run,
        command,
        check=False,
        capture_output=True,
        text=True,
        env=environ,
        cwd=ROOT,
        timeout=60,
    )


async def reads(there: Served, *arguments: str) -> Any:
    done = await typed(there, *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.fixture
async def there(tmp_path: Path):
    """A gateway with the demo; it gives up on a silent bank soon."""
    where = place(tmp_path, payout_timeout_s="3", read_timeout_s="3")
    async with served(where) as running:
        yield running


async def test_a_lost_answer_as_an_operator_sees_it(there: Served):
    """R$ 777.06: sent and unknown, then settled by itself, and the books agree."""
    account = ("--account", there.where.demo["accounts"]["main"]["id"])
    lost = await there.ask(
        "POST", there.where.at("/withdraw"), document=order("lost", today(), value=777.06)
    )

    shown = await reads(there, "payouts", "show", "lost", *account)
    probed = await reads(there, "payouts", "probe", "lost", *account, "--by", "maria")
    verified = await typed(there, "payouts", "verify")

    assert lost.verdict == (502, "SVC.PIX.010")
    assert shown["certainty"] in {"sent_unknown", "settled"}
    assert shown["attempts"][0]["bytes_left"] is True
    assert probed["after"]["certainty"] == "settled"
    assert (verified.returncode, verified.stderr.count("0 differences")) == (0, 1)
    assert await reads(there, "payouts", "unresolved") == []
    assert await there.executions("lost") == [77706]


SOON_S = 3.5
"""A second, and more on a busy machine; who hears of no change takes four."""


async def test_a_stop_pulled_at_a_terminal_reaches_the_gateway(there: Served):
    """Within a second of the command's end, while it pays all the time; and so does its end."""
    clock = asyncio.get_running_loop().time
    account = there.where.demo["accounts"]["main"]["id"]

    async def pay(reference: str) -> int:
        document = order(reference, today(), value=1)
        answer = await there.ask("POST", there.where.at("/withdraw"), document=document)
        return answer.status

    before = await pay("before")
    stop = await reads(
        there, "payouts", "stop", "--account", account, "--reason", "wrong recipients",
        "--for", "2h", "--by", "maria",
    )  # fmt: skip
    began, number = clock(), 0
    while await pay(f"during-{number}") != 403:
        number += 1
        assert clock() - began < SOON_S
        await asyncio.sleep(0.05)
    listed = await reads(there, "payouts", "stops")
    lifted = await reads(there, "payouts", "resume", stop["id"])
    began = clock()
    while await pay(f"after-{number}") == 403:
        number += 1
        assert clock() - began < SOON_S
        await asyncio.sleep(0.05)

    assert before == 200
    assert listed == [stop]
    assert lifted["state"] == "lifted"
