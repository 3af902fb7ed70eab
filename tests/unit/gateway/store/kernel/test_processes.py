"""The register of processes in a file; ``tests/contract/stores/test_processes.py`` has both."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from gateway.core.key_rotation import LiveProcess
from gateway.store import schema
from tests.world.store import open_store


async def test_a_process_is_removed_though_it_was_never_registered(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/store.db"
    await schema.upgrade(url)
    store = open_store(url)

    await store.processes.remove(LiveProcess(id="one", name="one", keys={}))
    alive = await store.processes.alive(datetime.now(UTC))

    await store.close()
    assert alive == []
