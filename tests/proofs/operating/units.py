"""Processes kept as systemd keeps units, and callers that open a new connection each time."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import aiohttp

from tests.servers.process import free_port
from tests.world.gateway.processes import GatewaySite, place
from tests.world.waiting import until

_KEY = "c2hhcmVkIGJ5IGFsbCBzZXJ2ZXIgcHJvY2Vzc2VzISE="
_TURN_S = 0.2
_SILENT_TURNS = 50
"""Ten seconds, as the units in deploy say."""


@dataclass(slots=True)
class Unit:
    """
    One process, as of ``Type=notify``, ``WatchdogSec=10`` and ``Restart=always``.

    Attributes:
        states: What each process notified, the watchdog's food left out.
        silent: How many were killed since their watchdog was not fed.
    """

    where: GatewaySite
    command: str = "serve"
    states: list[str] = field(default_factory=list)
    silent: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _stops: threading.Event = field(default_factory=threading.Event)
    _keeper: threading.Thread | None = None

    @property
    def pid(self) -> int:
        """The process id of the process that was started last."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        self._keeper = threading.Thread(target=self._keep)
        self._keeper.start()

    def stop(self) -> None:
        """End the process and keep none."""
        self._stops.set()
        assert self._keeper is not None
        self._keeper.join()

    async def ready(self, *former: int) -> None:
        """Wait until a process is ready that is none of the former ones."""

        async def is_ready() -> bool:
            if self._process is None or self.pid in former:
                return False
            with suppress(aiohttp.ClientError):
                async with (
                    aiohttp.ClientSession() as session,
                    session.get(f"{self.where.ops_url}/readyz") as said,
                ):
                    return said.status == 200
            return False

        await until(is_ready)

    async def digest(self) -> str:
        url = f"{self.where.ops_url}/config/digest"
        async with aiohttp.ClientSession() as session, session.get(url) as said:
            return str((await said.json())["digest"])

    def _keep(self) -> None:
        name = f"@pixgate-{self.where.ports['PIXGATE_OPS_PORT']}"
        told = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": str(int(_SILENT_TURNS * _TURN_S * 1e6))}
        site = replace(self.where, environ={**self.where.environ, **told})
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
            notified.bind(name.replace("@", "\0", 1))
            notified.settimeout(_TURN_S)
            while not self._stops.is_set():
                self._process = site.start(self.command)
                self._watch(self._process, notified)

    def _watch(self, process: subprocess.Popen[bytes], notified: socket.socket) -> None:
        is_ready, silent = False, 0
        while process.poll() is None:
            if self._stops.is_set():
                process.terminate()
                process.wait()
                return
            try:
                state = notified.recv(4096).decode()
            except TimeoutError:
                silent += 1
            else:
                silent = 0
                is_ready = is_ready or state == "READY=1"
                if state != "WATCHDOG=1":
                    self.states.append(state)
            if is_ready and silent >= _SILENT_TURNS:
                self.silent += 1
                process.kill()
                process.wait()


def has_ended(pid: int) -> bool:
    """
    Is a process dead, its files closed, whether or not anybody has asked for its status?

    They are open until its last thread has ended, and the first may end before the others.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        threads = len([*Path(f"/proc/{pid}/task").iterdir()])
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX" and threads < 2


async def end(pid: int) -> None:
    """Wait until a process is dead."""
    await until(lambda: has_ended(pid))


@contextmanager
def units(
    where: GatewaySite, url: str, commands: Sequence[str] = ("serve", "serve", "worker")
) -> Iterator[Sequence[Unit]]:
    """Keep units of one configuration and one database, each with an operations port of its own."""
    environ = {
        "PIXGATE_DATABASE_URL": url,
        "PIXGATE_PEPPER": _KEY,
        "PIXGATE_SEALING_KEY": _KEY,
        "PIXGATE_REUSE_PORT": "true",
    }
    made = [
        Unit(
            replace(where, environ=environ, ports={**where.ports, "PIXGATE_OPS_PORT": free_port()}),
            command,
        )
        for command in commands
    ]
    for each in made:
        each.start()
    try:
        yield made
    finally:
        for each in made:
            each.stop()


def site(folder: Path, **changed: str) -> GatewaySite:
    """Choose ports and a configuration that stops at once and starts no bank."""
    return place(folder, **{"drain_accept_s": "0", "start": "false", **changed})


@dataclass(slots=True)
class Calls:
    """
    The answers to callers with a new connection for each call.

    Attributes:
        answered: Calls that were answered 200.
        under_way, most_under_way: Calls without an answer yet, now and at most.
        failed: The number of the call, and what went wrong.
    """

    made: int = 0
    answered: int = 0
    under_way: int = 0
    most_under_way: int = 0
    failed: list[tuple[int, str]] = field(default_factory=list)

    def since(self, made: int) -> list[str]:
        """Name the failures of all calls but the first so many."""
        return [what for number, what in self.failed if number > made]

    async def more(self, count: int) -> None:
        """Wait until so many calls more were answered."""
        wanted = self.answered + count
        await until(lambda: self.answered >= wanted)


@asynccontextmanager
async def calling(where: GatewaySite, a_second: int) -> AsyncIterator[Calls]:
    """Call so often a second, for the length of the block; wait for the last one."""
    calls = Calls()
    async with asyncio.TaskGroup() as group:
        ends = asyncio.Event()
        group.create_task(_call_on(group, ends, calls, (where.base_url, a_second)))
        try:
            yield calls
        finally:
            ends.set()


async def _call_on(
    group: asyncio.TaskGroup, ends: asyncio.Event, calls: Calls, to: tuple[str, int]
) -> None:
    url, a_second = to
    while not ends.is_set():
        calls.made += 1
        group.create_task(_call(f"{url}/baas/v1/health", calls, calls.made))
        await asyncio.sleep(1 / a_second)


async def _call(url: str, calls: Calls, number: int) -> None:
    calls.under_way += 1
    calls.most_under_way = max(calls.most_under_way, calls.under_way)
    try:
        async with aiohttp.ClientSession() as session, session.get(url) as said:
            if said.status == 200:
                calls.answered += 1
            else:
                calls.failed.append((number, str(said.status)))
    except aiohttp.ClientError as problem:
        calls.failed.append((number, type(problem).__name__))
    calls.under_way -= 1
