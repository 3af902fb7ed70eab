"""Operators beside a running gateway: two processes, one store, one bank."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.world.gateway.processes import ROOT, Served, place, served, today
from tests.world.gateway.world import FROM_NOON, order
from tests.world.waiting import until


async def typed(there: Served, *arguments: str) -> subprocess.CompletedProcess[str]:
    ports = {name: str(port) for name, port in there.where.ports.items()}
    environ = {**os.environ, **FROM_NOON, **ports, "PIXGATE_VAR": str(there.where.folder)}
    command = [sys.executable, "-m", "gateway", *arguments, "--config", str(there.where.config)]
    return await asyncio.to_thread(
        subprocess.run,
        command,
        check=False,
        capture_output=True,
        text=True,
        env=environ,
        cwd=ROOT,
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


async def test_a_stop_created_at_a_terminal_reaches_the_gateway(there: Served):
    """While it pays all the time; and so does its end."""
    references = map("payout-{}".format, itertools.count())
    account = there.where.demo["accounts"]["main"]["id"]

    async def pay() -> int:
        document = order(next(references), today(), value=1)
        answer = await there.ask("POST", there.where.at("/withdraw"), document=document)
        return answer.status

    async def is_stopped() -> bool:
        return await pay() == 403

    async def is_served() -> bool:
        return await pay() != 403

    before = await pay()
    stop = await reads(
        there, "payouts", "stop", "--account", account, "--reason", "wrong recipients",
        "--for", "2h", "--by", "maria",
    )  # fmt: skip
    await until(is_stopped)
    listed = await reads(there, "payouts", "stops")
    lifted = await reads(there, "payouts", "resume", stop["id"])
    await until(is_served)

    assert before == 200
    assert listed == [stop]
    assert lifted["state"] == "lifted"
