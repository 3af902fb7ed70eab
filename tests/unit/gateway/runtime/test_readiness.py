"""May the load balancer send requests here?"""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.runtime.readiness import Readiness
from gateway.store.engine import open_store


@pytest.mark.parametrize(
    ("started", "checks"),
    [
        (False, {"store": True, "migrations": False}),
        (True, {"store": True, "migrations": True}),
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
    assert found == {"store": False, "migrations": True}
