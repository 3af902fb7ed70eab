"""
Redis for tests: one server a run, emptied before each test.

Found in this order: ``TEST_REDIS_URL`` (its database is emptied: never name one in use);
``redis-server`` or ``valkey-server`` in the path; else the tests skip.
"""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from tests.servers.demand import absent
from tests.servers.process import free_port, serving


@dataclass(frozen=True, slots=True)
class RedisServer:
    """
    A running server.

    Attributes:
        url: ``redis://`` with host, port and database number.
    """

    url: str

    async def empty(self) -> None:
        """Forget everything in the database."""
        client = Redis.from_url(self.url)
        try:
            await client.flushdb()
        finally:
            await client.aclose()


@contextmanager
def running() -> Iterator[RedisServer]:
    """Serve from the first place that has Redis; skip or fail where none has."""
    given = os.environ.get("TEST_REDIS_URL")
    if given:
        yield RedisServer(given)
        return
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        absent("redis", "no Redis: neither redis-server nor valkey-server in the path")
    with tempfile.TemporaryDirectory(prefix="redis-") as name, _served(program, Path(name)) as url:
        yield RedisServer(url)


@contextmanager
def _served(program: str, folder: Path) -> Iterator[str]:
    port = free_port()
    where = ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder)]
    with serving(
        [program, *where, "--save", "", "--appendonly", "no"],
        log=folder / "log",
        ready=lambda: _listening(port),
    ):
        yield f"redis://127.0.0.1:{port}/0"


def _listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
