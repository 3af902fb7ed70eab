"""A PostgreSQL server that may be crashed: what it has committed is there when it is back."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from tests.servers import postgres
from tests.servers.process import Account, free_port, run, unprivileged
from tests.world.waiting import until

# The operating system stays up, so that what was written counts; but a commit must be written.
SETTINGS = ["fsync=off", "full_page_writes=off", "synchronous_commit=on", "max_connections=60"]


@dataclass(slots=True, kw_only=True)
class Postgres:
    """A server with a database ``pixgate``."""

    folder: Path
    binaries: Path
    account: Account
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    def url(self, port: int | None = None, database: str = "pixgate") -> str:
        """Address of the database, by way of another port where one is given."""
        return f"postgresql://postgres@127.0.0.1:{port or self.port}/{database}"

    @property
    def pid(self) -> int:
        """Return the process of a server that serves."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Serve; after a crash this includes recovering."""
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-k", str(self.folder)]
        who = {} if self.account.uid is None else {"user": self.account.uid}
        with (self.folder / "log").open("ab") as output:
            self._process = subprocess.Popen(
                [
                    *(self.binaries / "postgres", "-D", self.folder / "data", *where),
                    *(f"-c{setting}" for setting in SETTINGS),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                start_new_session=True,
                **who,
            )
        await until(self._answers)

    async def crash(self) -> None:
        """Stop it at once: sessions end in the middle, nothing is written out."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGQUIT)
            await asyncio.to_thread(self._process.wait)
            self._process = None

    async def kill(self) -> None:
        """Kill the server and each of its processes, as ``kill -9`` does."""
        if self._process is not None:
            first = self._process.pid
            os.kill(first, signal.SIGSTOP)  # it starts no other meanwhile
            ended = [first, *_children(first)]
            for pid in ended:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await asyncio.to_thread(self._process.wait)
            await until(lambda: not any(map(_lives, ended)))
            self._process = None

    async def make(self) -> None:
        connection = await asyncpg.connect(self.url(database="postgres"))
        await connection.execute("CREATE DATABASE pixgate")
        await connection.close()

    async def _answers(self) -> bool:
        try:
            connection = await asyncpg.connect(self.url(database="postgres"), timeout=2)
        except (OSError, asyncpg.PostgresError, TimeoutError):
            return False
        await connection.close()
        return True


def _children(pid: int) -> Sequence[int]:
    """Return the processes that a process has started."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in found.split()]


def _lives(pid: int) -> bool:
    """Return whether a process still runs; one that nobody has waited for does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


@asynccontextmanager
async def running() -> AsyncIterator[Postgres]:
    """Make a server and its database; skips where there is no PostgreSQL."""
    account = unprivileged("postgres", "nobody")
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        account.owns(folder)
        binaries = postgres._binaries(folder, account)
        how = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions"]
        run([binaries / "initdb", "-D", folder / "data", *how], account)
        server = Postgres(folder=folder, binaries=binaries, account=account)
        try:
            await server.start()
            await server.make()
            yield server
        finally:
            await server.crash()
