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

from gateway.cli.serve.supervisor import Supervisor
from gateway.store import schema
from tests.servers.process import free_port
from tests.world.gateway.processes import ROOT
from tests.world.waiting import until

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
        await asyncio.to_thread(process.wait)


async def ready(port: int) -> None:
    """Wait until the process with this operations port is ready."""
    async with aiohttp.ClientSession() as session:

        async def is_ready() -> bool:
            try:
                async with session.get(f"http://127.0.0.1:{port}/readyz") as answer:
                    return answer.status == 200
            # A port without a listener may even answer with the request: a socket can connect
            # to itself.
            except aiohttp.ClientError:
                return False

        await until(is_ready)


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
        log = tmp_path / "said.log"
        await until(lambda: "SIGHUP: passed on to 3 processes" in log.read_text())
        await until(lambda: log.read_text().count("SIGHUP: the configuration has not changed") >= 3)
        assert children(process) == before
        os.kill(before[1], signal.SIGKILL)
        await until(lambda: before[1] not in children(process) and len(children(process)) == 3)
        await ready(port + 1)

        process.send_signal(signal.SIGINT)

        assert await asyncio.to_thread(process.wait) == 0
    assert log.read_text().count("SIGHUP: passed on to 3 processes") == 1


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
def test_server_processes_that_are_never_ready_end_the_crew(capfd: pytest.CaptureFixture[str]):
    """Three times each: a schema that is missing is not made by trying again."""
    failing = (sys.executable, "-I", "-S", "-c", "raise SystemExit(3)")
    crew = Supervisor(Path("config.yaml"), 2, "apart", lambda *_: failing)

    status = crew.run()

    said = capfd.readouterr().out
    assert status == 1
    assert [each.failures for each in crew.servers] == [3, 3]
    assert said.count("and none has ever been ready: giving up") == 1
    assert said.count("ended with status 3; another one starts in 0.2 s") == 2
