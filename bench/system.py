"""Processes and what the kernel says about them and the machine; Linux only."""

from __future__ import annotations

import os
import platform
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from importlib.metadata import version
from pathlib import Path
from typing import IO

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_START_S = 600.0
"""A machine that is busy with others; a process that cannot start ends by itself."""
_STOP_S = 60.0
_PAUSE_S = 0.02
_LIBRARIES = ("aiohttp", "uvloop", "orjson", "msgspec", "sqlalchemy")
# Places behind the name in /proc/PID/stat, the state being the first.
_PARENT, _USER, _SYSTEM = 1, 11, 12
# Places in the first line of /proc/stat: user, nice, system, irq, softirq.
_BUSY = (1, 2, 3, 6, 7)


class NotStarted(RuntimeError):
    """A process ended, or was not ready in time; the message has its last words."""


@dataclass(frozen=True, slots=True)
class Cores:
    """What is measured has a core of its own, and everything else another; None: no pinning."""

    measured: int | None
    others: int | None


def cores() -> Cores:
    """Choose two of the cores we may use; there is no pinning where there are fewer."""
    usable = sorted(os.sched_getaffinity(0))
    return Cores(usable[0], usable[1]) if len(usable) > 1 else Cores(None, None)


@contextmanager
def running(
    command: Sequence[str],
    core: int | None,
    folder: Path,
    ready: Callable[[], bool],
) -> Iterator[int]:
    """
    Keep a process on a core; its output goes nowhere, its errors are kept for ``NotStarted``.

    Args:
        command: What is run.
        core: None leaves it to the system.
        folder: Of its errors.
        ready: Asked until it says yes.

    Raises:
        NotStarted: it ended or is not there after ten minutes, or there is no such program.
    """
    errors = folder / f"{Path(command[0]).name}.{time.monotonic_ns()}.err"
    with errors.open("wb") as sink, _standing_on(core):
        process = _begun(command, sink)
    try:
        _wait(process, ready, errors)
        yield process.pid
    finally:
        _end(process)


def _begun(command: Sequence[str], sink: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=sink)
    except OSError as problem:
        raise NotStarted(str(problem)) from problem


@contextmanager
def _standing_on(core: int | None) -> Iterator[None]:
    """Let what is started in the block see one core from its first instruction."""
    before = os.sched_getaffinity(0)
    pin(0, core)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def pin(pid: int, core: int | None) -> None:
    """Keep a process, and what it starts from now on, on one core."""
    if core is not None:
        os.sched_setaffinity(pid, {core})


def answers(port: int, path: str = "/") -> int:
    """Return the status of a path; 0 while nobody answers."""
    connection = HTTPConnection("127.0.0.1", port, timeout=1.0)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()


def tree(pid: int) -> list[int]:
    """Name a process and all that descend from it."""
    parents: dict[int, int] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                parents[int(folder.name)] = int(_stat(int(folder.name))[_PARENT])
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def cpu_s(pids: Iterable[int]) -> float:
    """Add up the user and system time of processes, in seconds; 10 ms is the finest step."""
    ticks = 0
    for pid in pids:
        with suppress(FileNotFoundError):  # PostgreSQL's own workers come and go
            times = _stat(pid)
            ticks += int(times[_USER]) + int(times[_SYSTEM])
    return ticks / _TICKS


def busy_s() -> float:
    """Return the time that all cores together have worked since the machine started."""
    line = (_PROC / "stat").read_text().partition("\n")[0].split()
    return sum(int(line[place]) for place in _BUSY) / _TICKS


def pss_mb(pids: Iterable[int]) -> float:
    """Return the memory of processes, shared pages by their share, in MB of 1,048,576 bytes."""
    maps = ((_PROC / f"{pid}/smaps_rollup").read_text() for pid in pids)
    found = (re.search(r"^Pss: +(\d+) kB", each, re.MULTILINE) for each in maps)
    return sum(int(each[1]) for each in found if each) / 1024


def raise_file_limit() -> None:
    """Allow as many open files as we may: a conversation takes two in a gateway."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def machine() -> Mapping[str, str]:
    """Describe what it was measured on."""
    model = re.search(r"^model name\s*: (.*)$", (_PROC / "cpuinfo").read_text(), re.MULTILINE)
    return {
        "processor": model[1] if model else platform.machine(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def until(holds: Callable[[], bool], seconds: float) -> None:
    """Wait until something holds, at most so long."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)


def _stat(pid: int) -> list[str]:
    """Read the fields behind the name, which may hold anything, blanks and brackets too."""
    return (_PROC / f"{pid}/stat").read_text().rpartition(")")[2].split()


def _wait(process: subprocess.Popen[bytes], ready: Callable[[], bool], errors: Path) -> None:
    deadline = time.monotonic() + _START_S
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            said = errors.read_text(errors="replace")[-2000:]
            problem = f"{process.args!r}: {said}"
            raise NotStarted(problem)
        time.sleep(_PAUSE_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
