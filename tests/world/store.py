"""Empty stores to start from, migrated once for a process: migrating takes 0.2 s of CPU."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
import uuid
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from gateway.app import store
from gateway.app.store import Store
from gateway.store import schema
from gateway.store.kernel.chain import ChainKeys
from gateway.store.kernel.database import DEFAULT_LIMITS, Limits
from tests.servers.postgres import PostgresServer

KEYS: Final = ChainKeys({"k1": b"e" * 32}, {"k1": b"h" * 32})
"""The keys of the audit log in tests."""


def open_store(url: str, limits: Limits = DEFAULT_LIMITS, **more: Any) -> Store:
    """Open a store under the keys of tests; ``more`` is what the gateway's function takes."""
    return store.open_store(url, limits, more.pop("chain", KEYS), **more)


def migrated(file: Path) -> str:
    """
    Put an empty SQLite store of today's schema there; return its address.

    It is as ``pixgate db upgrade`` leaves it: nobody has stamped it yet.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_template(), file)
    return f"sqlite:///{file}"


@contextmanager
def migrated_database(server: PostgresServer) -> Iterator[str]:
    """Make a PostgreSQL database of today's schema, to be copied; it is named by what is given."""
    name = f"migrated_{uuid.uuid4().hex}"
    aside(server.create(name))
    aside(schema.upgrade(server.url(name)))
    yield name
    aside(server.drop(name))


@cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="pixgate-store-"))
    atexit.register(shutil.rmtree, folder)
    file = folder / "store.db"
    aside(schema.upgrade(f"sqlite:///{file}"))
    return file


def aside(work: Coroutine[None, None, object]) -> None:
    """Run to its end on a loop of its own: a test that asks has one running already."""
    with ThreadPoolExecutor(1) as aside:
        aside.submit(asyncio.run, work).result()
