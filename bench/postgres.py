"""A PostgreSQL server of our own for the length of a run; every commit reaches the disk."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_START_S = 30.0
_STOP_S = 15.0
_ACCOUNTS = ("postgres", "nobody")
_FREELY = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions")


class NoServer(Exception):
    """There is no PostgreSQL on this machine, or it does not start."""


@contextmanager
def running() -> Iterator[str]:
    """
    Serve an empty database and return its address.

    Raises:
        NoServer: nothing of PostgreSQL is installed where Debian puts it.
    """
    programs, account = installed(), _account()
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if account is not None:
            shutil.chown(folder, account)
        made: list[str | Path] = [programs / "initdb", "-D", folder / "data", *_FREELY]
        subprocess.run(made, user=account, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        yield from _served(programs, folder, account)


def _served(programs: Path, folder: Path, account: str | None) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [programs / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder],
        user=account,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(process, [programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)])
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_S)


def process_of(url: str) -> int:
    """Return the process id of a server that ``running`` has started, by what it listens on."""
    port = url.rpartition(":")[2].partition("/")[0]
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = place.read_bytes().split(b"\0")
            if words[0].endswith(b"/postgres") and words[-2:-1] and port.encode() in words:
                return int(place.parent.name)
    problem = "the server has ended"
    raise NoServer(problem)


def installed() -> Path:
    """Find the newest version of Debian's; raises NoServer."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if not found:
        problem = "PostgreSQL is not installed"
        raise NoServer(problem)
    return max(found, key=lambda path: int(path.parent.name))


def _account() -> str | None:
    """Name whom a server is started as, for it refuses the superuser."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _ACCOUNTS if name in known)


def _wait(process: subprocess.Popen[bytes], asking: list[str | Path]) -> None:
    # it listens before it lets anybody in
    deadline = time.monotonic() + _START_S
    while process.poll() is None and time.monotonic() < deadline:
        if subprocess.run(asking, check=False).returncode == 0:
            return
        time.sleep(0.05)
    problem = "PostgreSQL did not start"
    raise NoServer(problem)
