"""Server processes on one port and a worker: a dead one is replaced, a stop ends them all."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from gateway.store import schema
from tests.servers.process import free_port
from tests.world.gateway.processes import ROOT

START_S = 90
HOSTILE = ("gateway", "json", "policies", "sqlalchemy")
"""Modules that lie in the folder in which the service is started, and are not ours."""
PIXGATE = (Path(sys.executable).with_name("pixgate"),)


@asynccontextmanager
async def crew(folder: Path, **environ: str) -> AsyncIterator[tuple[subprocess.Popen[bytes], int]]:
    """Run two server processes and a worker; their operations ports are the given and the next."""
    ops_port = free_port()
    for name in HOSTILE:
        (folder / f"{name}.py").write_text("raise SystemExit('taken from the current folder')")
    names = ("PIXGATE_PORT", "PIXGATE_BANK_PORT", "PIXGATE_BANK_CONTROL_PORT")
    ports = {name: str(free_port()) for name in names} | {"PIXGATE_OPS_PORT": str(ops_port)}
    with (folder / "said.log").open("wb") as output:
        process = subprocess.Popen(
            [*PIXGATE, "serve", "--workers", "2", "--config", ROOT / "config.yaml"],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **ports, "PIXGATE_VAR": str(folder), **environ},
        )
    try:
        yield process, ops_port
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, START_S)


async def ready(port: int) -> None:
    """Wait until the process with this operations port is ready."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(START_S):
        while True:
            try:
                async with session.get(f"http://127.0.0.1:{port}/readyz") as answer:
                    if answer.status == 200:
                        return
            # A port nobody listens on may even answer with what it was asked: a socket can
            # connect to itself.
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)


async def digest(port: int) -> str:
    """Ask a process which configuration it runs under."""
    url = f"http://127.0.0.1:{port}/config/digest"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return (await answer.json())["digest"]


def children(process: subprocess.Popen[bytes]) -> list[int]:
    """Name the processes a process has started."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(each) for each in listed.split()]


@pytest.mark.process
async def test_a_process_that_died_is_replaced_and_a_stop_ends_them_all(
    tmp_path: Path, postgres_url: str
):
    await schema.upgrade(postgres_url)
    async with crew(tmp_path, PIXGATE_DATABASE_URL=postgres_url) as (process, port):
        for number in range(3):
            await ready(port + number)
        assert len({await digest(port + number) for number in range(3)}) == 1
        before = children(process)
        for pid in (process.pid, *before):
            os.kill(pid, signal.SIGHUP)
        await asyncio.sleep(0.5)
        await ready(port)
        assert children(process) == before
        os.kill(before[1], signal.SIGKILL)
        async with asyncio.timeout(START_S):
            while before[1] in children(process) or len(children(process)) < 3:
                await asyncio.sleep(0.05)
        await ready(port + 1)

        process.send_signal(signal.SIGINT)

        assert await asyncio.to_thread(process.wait, START_S) == 0
    said = (tmp_path / "said.log").read_text()
    assert said.count("SIGHUP: the configuration has not changed") >= 3
    assert said.count("SIGHUP: passed on to 3 processes") == 1


@pytest.mark.process
def test_a_full_disk_below_its_log_ends_no_supervisor():
    """Its server processes would end with it, and go on without a line by themselves."""
    said = (
        "from pathlib import Path; from gateway.cli.serve.supervisor import Supervisor;"
        "supervisor = Supervisor(Path('config.yaml'), 1, 'inside'); supervisor._say('error', 'x');"
        "supervisor._writer.stop(); import sys;"
        "sys.stderr.write(str(dict(supervisor._writer.lost)))"
    )
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", said],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            check=False,
        )

    assert done.stderr == b"{'full': 0, 'failed': 1}"


@pytest.mark.process
async def test_processes_that_cannot_start_end_the_crew(tmp_path: Path, postgres_url: str):
    """A schema that nobody made is not made by trying again."""
    async with crew(tmp_path, PIXGATE_DATABASE_URL=postgres_url) as (process, _port):
        ended = await asyncio.to_thread(process.wait, START_S)

    assert ended == 1
    assert "run `pixgate db upgrade`" in (tmp_path / "said.log").read_text()
