"""A third party's server as a child of the test run: started, waited for, ended by its handle."""

import fcntl
import os
import pwd
import random
import signal
import socket
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STOP_S = 60
_PAUSE_S = 0.02

_PORTS_EACH = 4
"""A simulated bank has listeners side by side, and so has a gateway of the bench."""
_PLACES = (20_000 // _PORTS_EACH, 32_000 // _PORTS_EACH)
_DRAW = random.SystemRandom()
_ours: deque[int] = deque(maxlen=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """
    The user that a server runs as.

    Attributes:
        uid: Numeric user, or None to stay who we are.
        gid: That user's group, or None.
    """

    uid: int | None = None
    gid: int | None = None

    def owns(self, path: Path) -> None:
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


def unprivileged(*names: str) -> Account:
    """Choose the first account of these that exists, if we are root; PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return Account()
    for name in names:
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(uid=entry.pw_uid, gid=entry.pw_gid)
    message = f"none of the accounts {names} exists"
    raise LookupError(message)


def free_port() -> int:
    """
    Find a loopback port nobody listens on, nor on the three above it, and keep others from it.

    It lies below those the system gives to clients: a server that is killed and
    started again finds its port still free. Drawn from the system's randomness,
    for a seeded draw would be the same in every process of the test run. Nobody else
    who tests is given these ports while this process lives, and has not found two
    hundred others since: seconds may pass before the server listens.
    """
    while True:
        port = _PORTS_EACH * _DRAW.randrange(*_PLACES)
        if port not in _ours and _claimed(port) and _unused(port):
            if len(_ours) == _ours.maxlen:
                fcntl.lockf(_claims(), fcntl.LOCK_UN, _PORTS_EACH, _ours[0])
            _ours.append(port)
            return port


def _claimed(port: int) -> bool:
    """Lock the ports' bytes in a file of all test runs; the system unlocks them at our end."""
    with suppress(BlockingIOError, PermissionError):
        fcntl.lockf(_claims(), fcntl.LOCK_EX | fcntl.LOCK_NB, _PORTS_EACH, port)
        return True
    return False


@cache
def _claims() -> int:
    """Open the file, once: closing it anywhere in the process would unlock everything."""
    file = Path(tempfile.gettempdir(), f"pixgate-test-ports-{os.geteuid()}")
    return os.open(file, os.O_RDWR | os.O_CREAT, 0o600)


def _unused(port: int) -> bool:
    with suppress(OSError), ExitStack() as probes:
        for each in range(port, port + _PORTS_EACH):
            probes.enter_context(socket.create_server(("127.0.0.1", each)))
        return True
    return False


def run(command: Sequence[str | Path], account: Account) -> None:
    """Run a command to its end; its output is in the error when it fails."""
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd="/",
        env=_environment(),
        **_as(account),
    )
    if done.returncode:
        message = f"{command[0]} ended with {done.returncode}: {done.stdout}{done.stderr}"
        raise RuntimeError(message)


@contextmanager
def serving(
    command: Sequence[str | Path],
    *,
    log: Path,
    ready: Callable[[], bool],
    account: Account | None = None,
    stop: signal.Signals = signal.SIGTERM,
) -> Iterator[subprocess.Popen[bytes]]:
    """
    Keep a server running; entered when ``ready`` says so.

    Raises:
        RuntimeError: It ended before; with the end of its log.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=_environment(),
            **_as(account or Account()),
        )
    try:
        _wait(process, log, ready)
        yield process
    finally:
        _end(process, stop)


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for servers that settle things between themselves."""
    while not holds():
        time.sleep(_PAUSE_S)


def _environment() -> dict[str, str]:
    """Nothing of ours: a server's messages and sort order must not follow the developer's shell."""
    return {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}


def _as(account: Account) -> dict[str, object]:
    if account.uid is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def _wait(process: subprocess.Popen[bytes], log: Path, ready: Callable[[], bool]) -> None:
    while not ready():
        if process.poll() is not None:
            said = log.read_text(errors="replace")[-2000:]
            message = f"{process.args!r} is not serving (status {process.returncode}): {said}"
            raise RuntimeError(message)
        time.sleep(_PAUSE_S)


def _end(process: subprocess.Popen[bytes], stop: signal.Signals) -> None:
    process.send_signal(stop)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
