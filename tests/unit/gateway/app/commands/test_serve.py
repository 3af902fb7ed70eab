"""The processes that stay: what they say, and how they end."""

import signal
import socket
from pathlib import Path

import aiohttp
import pytest

from tests.world.gateway.processes import Served, place, served
from tests.world.shell import Shell
from tests.world.waiting import until


@pytest.mark.process
async def test_the_embedded_sandbox_prints_ten_calls_and_exits_with_zero(tmp_path: Path):
    where = place(tmp_path, drain_accept_s="0")
    async with served(where) as running:
        running.process.send_signal(signal.SIGTERM)

        ended = await running.ended()

    said = where.said.read_text()
    assert ended == 0
    assert said.count("\ncurl ") == 10
    assert f"pixgate listens on {where.base_url}" in said


@pytest.mark.process
async def test_a_full_disk_below_the_output_does_not_stop_the_service(tmp_path: Path):
    """A restarted process must start, even without its log line."""
    where = place(tmp_path, start="false", drain_accept_s="0")
    where.said.symlink_to("/dev/full")
    process = where.start()
    async with aiohttp.ClientSession() as session:
        running = Served(where=where, process=process, session=session)
        await until(lambda: is_ready(running))

        process.send_signal(signal.SIGTERM)

        assert await running.ended() == 0


async def is_ready(running: Served) -> bool:
    """Ask a process that must not have ended whether it is ready."""
    assert running.process.poll() is None
    return await running.ready() == 200


@pytest.mark.process
def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path):
    where = place(tmp_path, start="false")
    with socket.create_server(("127.0.0.1", where.ports["PIXGATE_PORT"])):
        ended = where.start().wait()

    [problem] = [line for line in where.said.read_text().splitlines() if line.startswith("Error: ")]
    assert ended == 1
    assert "address already in use" in problem


def test_a_shared_port_is_refused_without_postgres(tmp_path: Path):
    config = tmp_path / "config.yaml"
    config.write_text("server: {reuse_port: true}")

    said = Shell(tmp_path).fails("serve", "--config", str(config))

    assert "server.reuse_port: needs PostgreSQL" in said


def test_a_worker_beside_a_file_is_refused(tmp_path: Path):
    """The serving process does its tasks."""
    said = Shell(tmp_path).fails("worker", status=1)

    assert "needs PostgreSQL" in said
