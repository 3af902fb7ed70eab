"""May the load balancer send requests here?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from gateway.app.readiness import Readiness
from gateway.store.kernel.database import Limits
from tests.world.store import open_store


@pytest.mark.parametrize(
    ("started", "checks"),
    [
        (False, {"store": True, "writable": True, "migrations": False}),
        (True, {"store": True, "writable": True, "migrations": True}),
    ],
    ids=["starting", "serving"],
)
async def test_every_check_has_its_name(tmp_path: Path, started: bool, checks: dict[str, bool]):
    store = open_store(f"sqlite:///{tmp_path}/store.db")

    found = await Readiness(store, started=started).checks()

    await store.close()
    assert found == checks


async def test_a_store_that_does_not_answer_is_told():
    """Without waiting for ever, and without its words."""
    store = open_store("postgresql://nobody@127.0.0.1:1/nothing")

    found = await Readiness(store, started=True).checks()

    await store.close()
    assert found == {"store": False, "writable": False, "migrations": True}


async def test_a_store_that_takes_no_writes_is_not_ready(tmp_path: Path, postgres_url: str):
    """A standby or a full disk still answers reads; whether it can be written is kept a second."""
    read_only = {
        f"sqlite:///{tmp_path}/store.db": "PRAGMA query_only = {}",
        postgres_url: "SET default_transaction_read_only = {}",
    }
    for url, setting in read_only.items():
        store = open_store(url, Limits(pool_size=1))
        now = [0.0]
        readiness = Readiness(store, started=True, monotonic=partial(now.__getitem__, 0))
        found = []
        for value, at in (("on", 0.0), ("off", 0.9), ("off", 1.0)):
            async with store.database.writer.connect() as connection:
                raw = await connection.get_raw_connection()
                await raw.driver_connection.execute(setting.format(value))
            now[0] = at
            checks = await readiness.checks()
            found.append((checks["store"], checks["writable"]))
        await store.close()

        assert found == [(True, False), (True, False), (True, True)], url
