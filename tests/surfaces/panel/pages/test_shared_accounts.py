"""Rows of one page share the account that the first has found; the next page looks again."""

from __future__ import annotations

import pytest

from bench.queries import counting
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_account_page_reads_its_account_once(world: World, viewer: Person):
    """Account, company and stops are each read once, not once per row."""
    path = f"/panel/accounts/{world.demo['accounts']['main']['id']}/statement?read=1"
    found = []

    for _ in range(2):
        with counting(world.gateway.kernel.store.database) as sent:
            page = await viewer.open(path)
        assert page.status == 200
        found.append(sent.of_pages[page.headers["X-Trace-ID"]])

    assert found[0] == found[1]
    assert 2 <= found[0] <= 6
