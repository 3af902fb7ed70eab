"""What several tests of store away share."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Mapping


@contextlib.asynccontextmanager
async def losing(url: str, *tables: str) -> AsyncIterator[None]:
    """Take tables of the store away, as a failing disk does."""
    file = url.removeprefix("sqlite:///")
    lost = {table: f"lost_{table}" for table in tables}
    await asyncio.to_thread(_rename, file, lost)
    try:
        yield
    finally:
        await asyncio.to_thread(_rename, file, {name: table for table, name in lost.items()})


def _rename(file: str, names: Mapping[str, str]) -> None:
    """Rename tables in a thread: the gateway ends what it writes on this loop."""
    with contextlib.closing(sqlite3.connect(file, timeout=300, isolation_level=None)) as other:
        for name, new in names.items():
            other.execute(f"ALTER TABLE {name} RENAME TO {new}")


AWAY = (503, "SVC.SYS.002")
