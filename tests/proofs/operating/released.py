"""
A sandbox as a release left it: its configuration, its database on SQLite or PostgreSQL, its calls.

    python -m tests.proofs.operating.released    stores the ones of this tree's version

From the release on its migrations are closed, and what is stored is never written again: each later
tree upgrades it and goes on.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tests.proofs.torture import postgres
from tests.proofs.torture.postgres import Postgres
from tests.servers.process import free_port
from tests.world.waiting import block_until

FOLDER: Final = Path(__file__).with_name("released")
KINDS: Final = ("sqlite", "postgresql")
PORTS: Final = (
    "PIXGATE_PORT",
    "PIXGATE_OPS_PORT",
    "PIXGATE_BANK_PORT",
    "PIXGATE_BANK_CONTROL_PORT",
)
_HERE: Final = "http://127.0.0.1:8080"
_DUMP: Final = "store.sql"
_CALLS: Final = "calls.json"


@dataclass(frozen=True, slots=True)
class Call:
    """
    One of the ten calls that a sandbox prints, and its answer.

    Attributes:
        line: The ``curl``, to the port of ``config.yaml``.
    """

    line: str
    status: int
    document: Any


@dataclass(slots=True)
class Site:
    """A folder with a configuration, its ``var`` and a database, run by this tree."""

    folder: Path
    environ: dict[str, str]
    ports: dict[str, int] = field(default_factory=lambda: {name: free_port() for name in PORTS})

    def does(self, *words: str) -> str:
        """Run a command that succeeds; return what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "gateway", *words],
            cwd=self.folder,
            env=self._environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def serving(self) -> Iterator[list[str]]:
        """Serve; give the ten calls that are printed."""
        log = self.folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "gateway", "serve"],
                cwd=self.folder,
                env=self._environ,
                stdout=output,
                stderr=output,
            )
        try:
            block_until(lambda: process.poll() is not None or len(_printed(log)) == 10)
            assert process.poll() is None, log.read_text()[-3000:]
            yield [line.replace(self._base, _HERE) for line in _printed(log)]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()

    def call(self, line: str) -> Call:
        """Make a call as printed."""
        done = subprocess.run(
            [*shlex.split(line.replace(_HERE, self._base)), "-w", "\n%{http_code}"],
            capture_output=True,
            text=True,
            check=True,
        )
        body, _, status = done.stdout.rpartition("\n")
        return Call(line, int(status), json.loads(body))

    @property
    def _base(self) -> str:
        return f"http://127.0.0.1:{self.ports['PIXGATE_PORT']}"

    @property
    def _environ(self) -> dict[str, str]:
        ports = {name: str(port) for name, port in self.ports.items()}
        return os.environ | ports | self.environ


@dataclass(frozen=True, slots=True)
class Stored:
    """
    What was stored of a release.

    Attributes:
        at: When; the wall clock of what goes on with it.
    """

    site: Site
    at: datetime
    calls: list[Call]

    def shifted(self) -> None:
        """Have the site's processes go on at the time when it was stored."""
        ago = datetime.now(UTC) - self.at
        self.site.environ["PIXGATE_CLOCK_OFFSET"] = str(-round(ago.total_seconds()))


def releases() -> list[str]:
    """Name the releases that were stored."""
    return sorted({path.name.partition("-")[0] for path in FOLDER.glob("*.tar.xz")})


@asynccontextmanager
async def database(kind: str) -> AsyncIterator[Postgres | None]:
    """Give the server that a kind of store needs."""
    if kind == "sqlite":
        yield None
        return
    async with postgres.running() as server:
        yield server


def taken(release: str, kind: str, folder: Path, server: Postgres | None) -> Stored:
    """Unpack a release's sandbox, and load its database."""
    with tarfile.open(FOLDER / f"{release}-{kind}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    if server is not None:
        _tool(server, "psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(folder / _DUMP))
    said = json.loads((folder / _CALLS).read_text())
    calls = [Call(**each) for each in said["calls"]]
    site = Site(folder, _environ(server))
    return Stored(site, datetime.fromisoformat(said["at"]), calls)


async def _store(kind: str) -> None:
    with tempfile.TemporaryDirectory(prefix="pixgate-") as name:
        folder = Path(name)
        async with database(kind) as server:
            site = Site(folder, _environ(server))
            site.does("config", "init")
            site.does("db", "upgrade")
            with site.serving() as lines:
                answers = [site.call(line) for line in lines]
            if server is not None:
                (folder / _DUMP).write_text(_tool(server, "pg_dump", "--no-owner"))
        calls = [
            {"line": each.line, "status": each.status, "document": each.document}
            for each in answers
        ]
        said = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "calls": calls}
        (folder / _CALLS).write_text(json.dumps(said, indent=1))
        (folder / "log").unlink()
        FOLDER.mkdir(exist_ok=True)
        with tarfile.open(FOLDER / f"{version('pixgate')}-{kind}.tar.xz", "w:xz") as archive:
            for each in sorted(folder.iterdir()):
                archive.add(each, each.name)


def _tool(server: Postgres, program: str, *words: str) -> str:
    done = subprocess.run(
        [server.binaries / program, *words, server.url()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _environ(server: Postgres | None) -> dict[str, str]:
    return {"PIXGATE_DATABASE_URL": server.url()} if server is not None else {}


def _printed(log: Path) -> list[str]:
    lines = log.read_text().splitlines(keepends=True)
    return [line for line in lines if line.startswith("curl ") and line.endswith("\n")]


async def main() -> None:
    """Store this tree's sandbox on each kind of database."""
    for kind in KINDS:
        await _store(kind)


if __name__ == "__main__":
    asyncio.run(main())
