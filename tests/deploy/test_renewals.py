"""Certificates of HAProxy are renewed while partners call on connections that they keep."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.deploy.rule_cases import ROOT
from tests.servers.echo import echoing
from tests.servers.front import Front, Node, haproxy
from tests.servers.peer import found
from tests.servers.process import free_port
from tests.world.banks.authority import Authority
from tests.world.waiting import until

pytestmark = pytest.mark.process

METHODS = ("GET", "POST")
CALLERS = 4
MORE = 25
"""Requests of each caller on either side of a renewal."""


class Callers:
    """Each reads and writes on one connection, as long as it may keep it."""

    def __init__(self, front: Front) -> None:
        self.front = front
        self.answered = [0] * CALLERS
        self.failed: list[str] = []
        self.stop = False

    async def call(self, number: int) -> None:
        connector = aiohttp.TCPConnector(limit=1, ssl=False)
        async with aiohttp.ClientSession(connector=connector) as session:
            while not self.stop:
                for method in METHODS:
                    try:
                        async with session.request(method, f"{self.front.url}/x") as said:
                            await said.read()
                    except aiohttp.ClientError as problem:
                        self.failed.append(f"{method}: {problem!r}")
                    else:
                        self.answered[number] += said.status == 200
                        if said.status != 200:
                            self.failed.append(f"{method}: {said.status}")

    async def more(self) -> None:
        """Wait until each has had some more answers."""
        wanted = [each + MORE for each in self.answered]
        await until(lambda: all(a >= b for a, b in zip(self.answered, wanted, strict=True)))


@asynccontextmanager
async def calling(front: Front) -> AsyncIterator[Callers]:
    callers = Callers(front)
    async with asyncio.TaskGroup() as group:
        for number in range(CALLERS):
            group.create_task(callers.call(number))
        try:
            yield callers
        finally:
            callers.stop = True


@asynccontextmanager
async def idle(front: Front) -> AsyncIterator[Callable[[], Awaitable[bytes]]]:
    """Keep a connection on which nothing is sent; calling it sends a write and returns the head."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    port = int(front.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)

    async def send() -> bytes:
        writer.write(b"POST /x HTTP/1.1\r\nHost: pix.example\r\nContent-Length: 0\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = re.findall(rb"(?i)content-length: (\d+)", head)
        await reader.readexactly(int(length))
        return head

    try:
        await send()
        yield send
    finally:
        writer.close()


def shown(front: Front) -> str:
    _, _, port = front.url.rpartition(":")
    return ssl.get_server_certificate(("127.0.0.1", int(port)))


async def shows(front: Front, file: Path) -> bool:
    return (await asyncio.to_thread(shown, front)).strip() in file.read_text()


def commands_of_the_page(front: Front, file: Path) -> str:
    """Return the page's commands, for this socket and this file."""
    page = (ROOT / "docs/operations.md").read_text()
    [block] = re.findall(r"```bash\n(# renew\n.*?)```", page, re.DOTALL)
    changed = block.replace("/run/haproxy/admin.sock", shlex.quote(str(front.commands)))
    return changed.replace("/etc/haproxy/pixgate.pem", shlex.quote(str(file)))


@pytest.mark.parametrize("how", ["commands", "reload"])
async def test_a_certificate_is_renewed_without_cutting_a_request(tmp_path: Path, how: str):
    """With the commands of docs/operations.md, and by a reload as of the systemd unit."""
    if how == "commands":
        found("socat")
    authority = Authority(tmp_path)
    used, renewed = authority.sign("used"), authority.sign("renewed")
    node = Node(port=(port := free_port()), ops=port)
    async with echoing(port):
        with haproxy(node, node, used) as front:
            await until(lambda: shows(front, used))
            async with idle(front) as send, calling(front) as callers:
                await callers.more()
                used.write_text(renewed.read_text())
                if how == "commands":
                    script = commands_of_the_page(front, used)
                    done = await asyncio.to_thread(
                        subprocess.run, ["bash", "-ec", script], check=True, capture_output=True
                    )
                    assert b"Success!" in done.stdout, done
                else:
                    os.kill(front.pid, signal.SIGUSR2)
                await until(lambda: shows(front, renewed))
                await callers.more()
                late = await send()

    assert callers.failed == []
    assert late.startswith(b"HTTP/1.1 200 ")
