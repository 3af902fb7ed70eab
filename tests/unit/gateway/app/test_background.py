"""The periodic tasks of a serving process."""

from __future__ import annotations

from pathlib import Path

from gateway.app.assembly import assemble
from tests.surfaces.world import sandbox


async def test_what_a_process_does_in_the_background(tmp_path: Path):
    """Whatever is missing here is never followed up, cleaned up or written down."""
    gateway = assemble(sandbox(tmp_path), {}, with_bank=False)

    names = [task.name for task in (*gateway.tasks, *gateway.rooms.identity.tasks)]

    await gateway.kernel.store.close()
    assert names == [
        "change feed",
        "audit tally",
        "unsettled payouts",
        "callbacks",
        "missed events",
        "request log",
        "gauges",
        "cache",
        "audit",
        "approvals",
        "retention",
        "last uses",
        "mail",
        "old sign-ins",
        "reset links",
    ]
