"""A supervisor with its server processes, and callers that open a new connection each time."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import aiohttp

from tests.world.gateway.processes import GatewaySite, place
from tests.world.waiting import until

_KEY = "c2hhcmVkIGJ5IGFsbCBzZXJ2ZXIgcHJvY2Vzc2VzISE="
_ALL = re.compile(r'^gateway_server_processes\{state="(\w+)"\} ([\d.]+)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Supervised:
    """A supervisor that was started, and how many server processes it keeps."""

    where: GatewaySite
    supervisor: subprocess.Popen[bytes]
    wanted: int

    @property
    def children(self) -> list[int]:
        """The process ids of its server processes, the one that was started first in front."""
        pid = self.supervisor.pid
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(each) for each in listed.split()]

    @property
    def said(self) -> str:
        """All that was printed."""
        return self.where.said.read_text()

    def footprint(self, pid: int) -> tuple[int, int]:
        """Count the file descriptors and threads of a process."""
        descriptors, threads = (Path(f"/proc/{pid}/{each}").iterdir() for each in ("fd", "task"))
        return (len([*descriptors]), len([*threads]))

    async def has_said(self, words: str, times: int = 1) -> None:
        """Wait until something was printed, and see that it was not printed more often."""
        await until(lambda: self.said.count(words) >= times)
        assert self.said.count(words) == times

    async def ready(self, *numbers: int) -> None:
        """Wait until these server processes are ready; without numbers, all of them."""
        async with aiohttp.ClientSession() as session:
            for number in numbers or range(self.wanted):
                await until(partial(self._is_ready, session, number))

    async def replaced(self, *pids: int) -> None:
        """Wait until these processes are gone and all that are wanted are ready."""
        await until(lambda: not {*pids} & {*self.children} and len(self.children) == self.wanted)
        await self.ready()

    async def shows(self, number: int, **processes: int) -> None:
        """
        Wait until one of them shows so many server processes, by state.

        The supervisor counts in turns: who is ready is shown a moment later.
        """

        async def is_shown() -> bool:
            return await self._shown(number) == processes

        await until(is_shown)

    async def _shown(self, number: int) -> dict[str, float]:
        url = f"{self._operations(number)}/metrics"
        async with aiohttp.ClientSession() as session, session.get(url) as said:
            return {state: float(value) for state, value in _ALL.findall(await said.text())}

    async def digests(self) -> set[str]:
        """Name the configurations that are in force."""
        found = set()
        async with aiohttp.ClientSession() as session:
            for number in range(self.wanted):
                async with session.get(f"{self._operations(number)}/config/digest") as said:
                    found.add(str((await said.json())["digest"]))
        return found

    async def _is_ready(self, session: aiohttp.ClientSession, number: int) -> bool:
        assert self.supervisor.poll() is None, self.said
        try:
            async with session.get(f"{self._operations(number)}/readyz") as said:
                return said.status == 200
        except aiohttp.ClientError:
            return False

    def _operations(self, number: int) -> str:
        return f"http://127.0.0.1:{self.where.ports['PIXGATE_OPS_PORT'] + number}"


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
def supervised(
    where: GatewaySite, url: str, wanted: int = 2, onto: int | None = None
) -> Iterator[Supervised]:
    """
    Start a supervisor; whatever became of it, nothing of it is left at the end.

    It prints into the site's file, or onto a descriptor. All that use one database have its keys.
    """
    shared = {"PIXGATE_DATABASE_URL": url, "PIXGATE_PEPPER": _KEY, "PIXGATE_SEALING_KEY": _KEY}
    os.environ.update(shared)
    try:
        started = where.start("serve", "--workers", str(wanted), onto=onto)
    finally:
        for name in shared:
            del os.environ[name]
    running = Supervised(where, started, wanted)
    try:
        yield running
    finally:
        if started.poll() is None:
            started.terminate()
        started.wait()


def site(folder: Path, **changed: str) -> GatewaySite:
    """Choose ports and a configuration that stops at once and has no worker, unless it says so."""
    return place(folder, **{"drain_accept_s": "0", "run": "inside", **changed})


def beside(where: GatewaySite, folder: Path) -> GatewaySite:
    """Choose other ports for everything but the public listener, and another folder."""
    other = site(folder)
    return replace(other, ports={**other.ports, "PIXGATE_PORT": where.ports["PIXGATE_PORT"]})


@dataclass(slots=True)
class Calls:
    """
    What callers were told who opened a new connection for each call.

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
