"""What each release left is upgraded by this tree, read, and gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.proofs.operating.released import KINDS, database, releases, taken
from tests.world.waiting import block_until

PAYOUT = 7
"""Of the ten calls: it reads what the one before ordered."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("release", releases())
async def test_a_sandbox_of_a_release_goes_on(release: str, kind: str, tmp_path: Path):
    """
    Its configuration is valid, its calls answer as they did, its payout is not paid again.

    Where a migration was changed before its release: ``python -m tests.proofs.operating.released``.
    """
    async with database(kind) as server:
        stored = taken(release, kind, tmp_path, server)
        stored.shifted()
        site = stored.site

        site.does("config", "check")
        site.does("db", "upgrade")
        with site.serving():
            before = json.loads(site.does("sandbox", "executions", "--json"))
            again = [site.call(each.line) for each in stored.calls]
            block_until(lambda: site.call(stored.calls[PAYOUT].line).document["status"] == "paid")
            after = json.loads(site.does("sandbox", "executions", "--json"))

    assert [each.status for each in again] == [each.status for each in stored.calls]
    assert after == before != []
