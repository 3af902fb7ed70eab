"""May the load balancer send requests here?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.app.readiness import Readiness
from gateway.store.kernel.database import Limits
from tests.unit.gateway.app.checked_store import CheckedStore


@pytest.mark.parametrize("started", [False, True], ids=["starting", "serving"])
async def test_every_readiness_check_is_reported(tmp_path: Path, started: bool):
    checked = CheckedStore(f"sqlite:///{tmp_path}/store.db")

    found = await Readiness(checked.check, started=started).checks()

    await checked.store.close()
    assert found == {"store": True, "writable": True, "clock": True, "migrations": started}


async def test_an_unreachable_store_is_reported():
    """In limited time, and without the driver's text."""
    checked = CheckedStore("postgresql://nobody@127.0.0.1:1/nothing")

    found = await Readiness(checked.check, started=True).checks()

    await checked.store.close()
    assert found == {"store": False, "writable": False, "clock": True, "migrations": True}


async def test_a_store_that_accepts_no_writes_is_not_ready(tmp_path: Path, postgres_url: str):
    """A standby still answers reads; the result is cached for a second."""
    read_only = {
        f"sqlite:///{tmp_path}/store.db": "PRAGMA query_only = {}",
        postgres_url: "SET default_transaction_read_only = {}",
    }
    for url, setting in read_only.items():
        checked = CheckedStore(url, Limits(pool_size=1))
        readiness = Readiness(checked.check, started=True)
        found = []
        for value, at in (("on", 0.0), ("off", 0.9), ("off", 1.0)):
            async with checked.store.database.writer.connect() as connection:
                raw = await connection.get_raw_connection()
                await raw.driver_connection.execute(setting.format(value))
            checked.elapsed_s = at
            checks = await readiness.checks()
            found.append((checks["store"], checks["writable"]))
        await checked.store.close()

        assert found == [(True, False), (True, False), (True, True)], url


async def test_a_process_with_a_wrong_clock_is_not_ready(postgres_url: str):
    checked = CheckedStore(postgres_url)
    found = []
    for hours in (2, -2, 0):
        checked.at = datetime.now(UTC) + timedelta(hours=hours)
        checks = await Readiness(checked.check, started=True).checks()
        found.append((checks["clock"], checks["writable"]))

    await checked.store.close()
    assert found == [(False, True), (False, True), (True, True)]
