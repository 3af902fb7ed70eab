"""``pixgate bank``: every simulated bank at its place."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from gateway.core.audit_context import RuleViolation
from provider_adapters.testing import simulators
from provider_adapters.testing.commands.banks import running_bank
from tests.world.shell import CONFIG, Shell


def test_a_stopped_bank_has_no_address(tmp_path: Path):
    with pytest.raises(RuleViolation, match="`pixgate bank sandbox`"):
        running_bank(tmp_path, "sandbox")


def test_invalid_options_are_a_usage_error(fresh_shell: Shell):
    for options in (["sandbox", "nobody"], ["--first-port", "x"], ["--first-port", "65001"]):
        fresh_shell.fails("bank", *options, status=2)


def test_production_has_no_simulated_banks(shell: Shell):
    shell.environ["PIXGATE_ENVIRONMENT"] = "production"

    assert shell.fails("bank").startswith("Error: ")


@pytest.mark.process
async def test_all_simulated_banks_run_in_one_process_until_stopped(tmp_path: Path):
    """One line for each bank; each answers at both addresses, and is printed only then."""
    environ = {"PIXGATE_CONFIG": str(CONFIG), "PIXGATE_VAR": str(tmp_path)}
    command = [sys.executable, "-m", "gateway", "bank", "--first-port", "0", "--json"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environ
    )
    assert running.stdout is not None
    try:
        lines = [
            json.loads(await asyncio.to_thread(running.stdout.readline)) for _ in simulators.names()
        ]
        async with aiohttp.ClientSession() as session:
            for line in lines:
                async with session.get(f"{line['control_url']}/control/clock") as answer:
                    assert answer.status == 200
        told = [running_bank(tmp_path / "banks", name) for name in simulators.names()]
    finally:
        running.send_signal(signal.SIGTERM)
        ended = await asyncio.to_thread(running.wait)
        running.stdout.close()

    assert [line["bank"] for line in lines] == list(simulators.names())
    assert [(each.url, each.control_url) for each in told] == [
        (line["url"], line["control_url"]) for line in lines
    ]
    assert ended == 0
    assert list((tmp_path / "banks").glob("*.json")) == []
