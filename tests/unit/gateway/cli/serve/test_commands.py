"""The processes that stay: what they say, and how they end."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.servers.process import free_port
from tests.world.gateway.processes import ROOT, Served, place, served
from tests.world.shell import Shell


@pytest.mark.process
async def test_on_the_embedded_sandbox_ten_calls_are_printed_and_it_ends_with_zero(tmp_path: Path):
    where = place(tmp_path, drain_accept_s="0")
    async with served(where) as running:
        running.process.send_signal(signal.SIGTERM)

        ended = await running.ended()

    said = where.said.read_text()
    assert ended == 0
    assert said.count("\ncurl ") == 10
    assert f"pixgate listens on {where.base_url}" in said


@pytest.mark.process
async def test_a_full_disk_below_the_output_keeps_nobody_from_serving(tmp_path: Path):
    """A process that is replaced meanwhile must start; without a line of its log."""
    where = place(tmp_path, start="false", drain_accept_s="0")
    where.said.symlink_to("/dev/full")
    process = where.start()
    async with aiohttp.ClientSession() as session, asyncio.timeout(30):
        running = Served(where=where, process=process, session=session)
        while await running.ready() != 200:
            assert process.poll() is None
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.5)

        process.send_signal(signal.SIGTERM)

        assert await running.ended() == 0


@pytest.mark.process
async def test_a_taken_port_is_one_clear_line(tmp_path: Path):
    where = place(tmp_path)
    async with served(where):
        second = await asyncio.to_thread(where.start().wait, 30)

    # beside it the first one may have logged
    said = where.said.read_text().splitlines()
    [problem] = [line for line in said if line.startswith("Error: ")]
    assert second == 1
    assert "address already in use" in problem


@pytest.mark.parametrize(("workers", "status"), [("2", 1), ("0", 2), ("65", 2), ("x", 2)], ids=str)
@pytest.mark.process
def test_several_server_processes_on_a_file_or_none_at_all_are_refused(
    tmp_path: Path, workers: str, status: int
):
    """An SQLite store has one process."""
    shell = Shell(tmp_path)

    said = shell.fails("serve", "--workers", workers, status=status)

    assert status == 2 or "PostgreSQL" in said


@pytest.mark.process
def test_a_worker_beside_a_file_is_refused(tmp_path: Path):
    """The one process does its tasks."""
    said = Shell(tmp_path).fails("worker", status=1)

    assert "needs PostgreSQL" in said


@pytest.mark.process
def test_the_bank_runs_alone_and_ends_with_zero(tmp_path: Path):
    port, control = str(free_port()), str(free_port())
    options = ["--port", port, "--control-port", control, "--db", str(tmp_path / "bank.db")]
    bank = subprocess.Popen(
        [sys.executable, "-m", "gateway", "sandbox-bank", *options],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert bank.stdout is not None
    said = [bank.stdout.readline(), bank.stdout.readline()]
    bank.send_signal(signal.SIGTERM)

    ended = bank.wait(10)

    bank.stdout.close()
    assert ended == 0
    assert said == [
        f"sandbox bank on http://127.0.0.1:{port}\n",
        f"its control  on http://127.0.0.1:{control}\n",
    ]
