"""
Every screen, in every way people look at it, is without a fault.

``make test`` looks at each screen in the usual way and at every sixth screen in another;
``make proofs`` looks at each screen in every way.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from playwright.async_api import Browser, Route

from tests.browser.inspection import Look
from tests.browser.panel_site import PanelSite
from tests.browser.screens import SCREENS, Case, cases, usual
from tests.world.extent import DAY, WHOLE

DAYS = 6
"""After so many each screen was looked at in another way than the usual one."""

BY_NAME = {each.name: each for each in SCREENS}


async def faults(browser: Browser, site: PanelSite, case: Case) -> list[str]:
    """Look at a case and return what is wrong with it."""
    async with site.tab(browser, await site.cookies(case), case.look) as tab:
        await tab.open(case.screen.at(site.seeds), case.status)
        return await tab.look()


@pytest.mark.skipif(WHOLE, reason="among all cases")
@pytest.mark.parametrize("name", BY_NAME)
async def test_a_screen_is_without_a_fault_in_the_usual_way(
    browser: Browser, site: PanelSite, name: str
):
    assert await faults(browser, site, usual(BY_NAME[name])) == []


@pytest.mark.skipif(WHOLE, reason="among all cases")
@pytest.mark.parametrize("turn", range(0, len(SCREENS), DAYS))
async def test_a_screen_is_without_a_fault_in_another_way(
    browser: Browser, site: PanelSite, turn: int
):
    """All ways of all screens have had their turn after some months."""
    case = of_the_day(turn, DAY)

    assert await faults(browser, site, case) == [], str(case)


def test_every_way_has_its_day():
    turns, most = range(0, len(SCREENS), DAYS), max(len(cases(each)) for each in SCREENS)
    seen = {str(of_the_day(turn, day)) for turn in turns for day in range(DAYS * most * most)}

    assert seen == {str(case) for each in SCREENS for case in cases(each)[1:]}


async def test_a_font_that_comes_late_moves_nothing(browser: Browser, site: PanelSite):
    case = replace(usual(BY_NAME["statement"]), look=Look(width=390))

    async def late(route: Route) -> None:
        await asyncio.sleep(1)
        await route.continue_()

    async with site.tab(browser, await site.cookies(case), case.look) as tab:
        await tab.page.route("**/*.woff2", late)
        await tab.open(case.screen.at(site.seeds))
        await tab.page.wait_for_load_state("networkidle")

        assert await tab.look(deep=False) == []


# Collecting a thousand that are skipped takes seconds.
@pytest.mark.parametrize("case", [each for one in SCREENS for each in cases(one) if WHOLE], ids=str)
async def test_a_screen_is_without_a_fault_in_every_way(
    browser: Browser, site: PanelSite, case: Case
):
    assert await faults(browser, site, case) == []


def of_the_day(turn: int, day: int) -> Case:
    """Choose a screen, and a case of it beside the usual one; on a day it differs among screens."""
    screen = SCREENS[(turn + day % DAYS) % len(SCREENS)]
    others = cases(screen)[1:]
    return others[(day // DAYS + len(screen.name)) % len(others)]
