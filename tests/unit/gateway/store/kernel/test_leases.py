"""Leases of tasks in a file; ``tests/contract/stores/test_task_leases.py`` has both databases."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from gateway.store import schema
from tests.world.store import open_store


async def test_nobody_has_ever_taken_one(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/store.db"
    await schema.upgrade(url)
    store = open_store(url)

    await store.leases.release("nobody", datetime.now(UTC))
    latest = await store.leases.latest(datetime.now(UTC))

    await store.close()
    assert latest is None
