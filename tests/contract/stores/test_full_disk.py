"""A full disk refuses the trial write, and takes it as soon as there is room again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.core.storage import WritesRefused
from tests.servers.postgres import PostgresServer
from tests.servers.small_disk import database_on, fill, small_disk
from tests.world.store import migrated, open_store


@pytest.fixture
def disk() -> Iterator[Path]:
    with small_disk() as folder:
        yield folder


async def refusals(url: str, disk: Path) -> list[bool]:
    """Return whether a trial write is refused: with room, without, and with room again."""
    store, filler = open_store(url), disk / "filler"
    seen = []
    for prepare in (filler.touch, lambda: fill(filler), filler.unlink):
        prepare()
        try:
            await store.check_writes()
        except WritesRefused:
            seen.append(True)
        else:
            seen.append(False)
    await store.close()
    return seen


async def test_a_full_tablespace_fails_the_trial_write(disk: Path, postgres_server: PostgresServer):
    async with database_on(disk, postgres_server) as url:
        assert await refusals(url, disk) == [False, True, False]


async def test_a_full_disk_fails_the_trial_write_of_a_file(disk: Path):
    assert await refusals(migrated(disk / "pixgate.db"), disk) == [False, True, False]
