"""A small disk that a test fills: memory that is mounted as a file system."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from tests.servers.postgres import PostgresServer
from tests.servers.process import unprivileged

_SIZE: Final = "24m"
_BLOCK: Final = 4096


@contextmanager
def small_disk() -> Iterator[Path]:
    """Mount it where the accounts of servers may write, too; skip where only root may."""
    with tempfile.TemporaryDirectory(prefix="disk-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "small"
        folder.mkdir()
        mount, unmount = shutil.which("mount"), shutil.which("umount")
        if mount is None or unmount is None:
            pytest.skip("nothing to mount a small disk with")
        made = [mount, "-t", "tmpfs", "-o", f"size={_SIZE},mode=0777", "tmpfs", str(folder)]
        if subprocess.run(made, check=False, capture_output=True).returncode:
            pytest.skip("only root may mount a small disk to fill it")
        try:
            yield folder
        finally:
            subprocess.run([unmount, "-l", str(folder)], check=True)


def fill(file: Path) -> None:
    """Write until there is no room."""
    with file.open("wb", buffering=0) as output:
        try:
            while True:
                output.write(b"x" * _BLOCK)
        except OSError:
            return


@asynccontextmanager
async def database_on(disk: Path, server: PostgresServer) -> AsyncIterator[str]:
    """Make a database whose tables are on the disk; the server's other files are elsewhere."""
    folder, name = disk / "tables", f"small_{uuid.uuid4().hex}"
    folder.mkdir(mode=0o700)
    unprivileged("postgres", "nobody").owns(folder)
    admin = await asyncpg.connect(server.plain)
    await admin.execute(f"CREATE TABLESPACE {name} LOCATION '{folder}'")
    await admin.execute(f"CREATE DATABASE {name} TABLESPACE {name}")
    try:
        yield server.url(name)
    finally:
        await server.drop(name)
        await admin.execute(f"DROP TABLESPACE {name}")
        await admin.close()
