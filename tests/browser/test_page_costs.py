"""What a page may cost: queries counted, HTML measured; how long it takes is `make bench-pages`."""

from __future__ import annotations

import pytest

from bench import pages
from bench.panel_asking import ask_here
from tests.browser.panel_site import PanelSite
from tests.browser.screens import SCREENS

BY_NAME = {each.name: each for each in SCREENS}


@pytest.mark.parametrize("name", BY_NAME)
async def test_a_page_asks_the_store_little_and_is_small(site: PanelSite, name: str):
    """
    At most six queries and 60 KB with 50 rows; what finds out who asks is counted apart.

    That is two queries, and now and then more. How it is counted says `bench/queries.py`.
    """
    found = await pages.Scene(site=site, ask=ask_here).cost(BY_NAME[name], rounds=1)

    assert found.queries <= pages.MOST_QUERIES
    assert found.who_asks <= pages.MOST_WHO_ASKS
    assert found.size <= pages.MOST_BYTES
