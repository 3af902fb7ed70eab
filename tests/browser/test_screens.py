"""
Every screen of the panel, looked at as each of those who see it.

``make test`` looks at each screen in the usual way and at a few in another; ``make proofs`` looks
at each screen in every way. How long a page takes is measured by ``make bench-pages``.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Browser, Route

from bench import pages
from gateway.core.rights import Role
from gateway.http.panel.pages.surface import NAME
from tests.browser import panel_site
from tests.browser.inspection import LEAST_WIDTH, Look
from tests.browser.panel_site import PanelSite
from tests.browser.screens import SCREENS, Case, cases, usual
from tests.browser.walking import row_at
from tests.world.extent import DAY, WHOLE
from tests.world.surfaces import surface_named
from tests.world.waiting import until

BY_NAME = {each.name: each for each in SCREENS}
OTHERS = [case for each in SCREENS for case in cases(each)[1:]]
random.Random(0).shuffle(OTHERS)
A_DAY = 4
"""Cases beside the usual ones that a day looks at: each has its turn within the year."""

PAGES = {
    route.name
    for gate in surface_named(NAME).gates
    for route in gate.routes
    if route.method == "GET" and tuple(route.media) == ("text/html",)
}
PAPER = "rgb(255, 255, 255)"
INK = 0x50
"""The lightest ink that a page may have, of 255 in each colour: quiet text included."""

COLOURS = """() => [...document.querySelectorAll("main *")]
  .filter((each) => [...each.childNodes].some((one) => one.nodeType === 3 && /\\S/.test(one.data)))
  .filter((each) => each.checkVisibility())
  .map((each) => getComputedStyle(each).color)"""
GROUND = "() => getComputedStyle(document.body).backgroundColor"
CUT = """selector => [...document.querySelectorAll(selector)]
  .filter((each) => each.checkVisibility())
  .map((each) => {
    const cell = each.closest("th, td").getBoundingClientRect();
    const words = document.createRange();
    words.selectNodeContents(each);
    const outside = [...words.getClientRects()].some((line) => line.right > cell.right + 0.5);
    return [each.textContent.trim(), outside];
  })"""


async def faults(browser: Browser, site: PanelSite, looked: Iterable[Case]) -> dict[str, list[str]]:
    """Look at cases of one person and one look in one tab; return what is wrong, by case."""
    all_cases, wrong = list(looked), {}
    first = all_cases[0]
    async with site.tab(browser, await site.cookies(first), first.look) as tab:
        for case in all_cases:
            await tab.open(case.screen.at(site.seeds), case.status)
            wrong[str(case)] = list(await tab.look())
            tab.findings.clear()
    return {case: findings for case, findings in wrong.items() if findings}


if WHOLE:

    @pytest.mark.parametrize("case", [case for each in SCREENS for case in cases(each)], ids=str)
    async def test_no_screen_has_a_fault_in_any_look(browser: Browser, site: PanelSite, case: Case):
        assert await faults(browser, site, [case]) == {}

else:

    @pytest.mark.parametrize(
        "by", sorted({each.by for each in SCREENS}), ids=lambda by: by or "nobody"
    )
    async def test_no_screen_has_a_fault_in_the_usual_look(
        browser: Browser, site: PanelSite, by: str
    ):
        screens = [usual(each) for each in SCREENS if each.by == by]

        assert await faults(browser, site, screens) == {}

    @pytest.mark.parametrize("number", range(A_DAY))
    async def test_no_screen_has_a_fault_in_the_look_of_the_day(
        browser: Browser, site: PanelSite, number: int
    ):
        case = OTHERS[(DAY * A_DAY + number) % len(OTHERS)]

        assert await faults(browser, site, [case]) == {}


async def test_a_late_font_does_not_shift_the_layout(browser: Browser, site: PanelSite):
    """It arrives after the page was painted with another font."""
    case = replace(usual(BY_NAME["statement"]), look=Look(width=390))
    late = []

    async with site.tab(browser, await site.cookies(case), case.look) as tab:

        async def is_painted() -> int:
            return int(await tab.page.evaluate("performance.getEntriesByType('paint').length"))

        async def hold(route: Route) -> None:
            await until(is_painted)
            late.append(route.request.url)
            await route.continue_()

        await tab.page.route("**/*.woff2", hold)
        await tab.open(case.screen.at(site.seeds))
        await tab.page.wait_for_load_state("networkidle")

        assert await tab.look(deep=False) == []
    assert late


async def test_a_page_makes_few_store_queries_and_is_small(tmp_path: Path):
    """
    At most six queries and 60 KB with 50 rows, without those that identify the user.

    Identification takes two queries, and occasionally more. Six pages may send a few more.
    `bench/queries.py` describes the count. The gateway is the test's own, because other tests add
    rows.
    """
    async with panel_site.serving(panel_site.settings(tmp_path)) as site:
        first = [await pages.cost(site, each, rounds=1) for each in SCREENS]
        # Rarely one more statement has a page's trace, and it is not known whose: count again.
        dear = [screen for screen, cost in zip(SCREENS, first, strict=True) if cost.too_much]
        again = [await pages.cost(site, each, rounds=1) for each in dear]

    assert [each for each in again if each.too_much] == []


def test_screens_and_pages_match():
    """A page without an entry would not be checked; files are not pages."""
    shown = {row_at(each.path.format_map(_Any())) for each in SCREENS}

    assert shown == PAGES
    assert len(BY_NAME) == len(SCREENS)


class _Any(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "x"


def channels(colour: str) -> list[float]:
    """Read ``rgb(1, 2, 3)``."""
    return [float(each) for each in colour.partition("(")[2].rstrip(")").split(",")[:3]]


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_the_print_style_is_dark_text_on_white(browser: Browser, site: PanelSite, theme: str):
    """With the system's theme and with the user's own."""
    printed = {}
    cookies = await site.people.cookies_of(Role.ADMIN)
    async with site.tab(browser, cookies, Look(theme=theme)) as tab:
        for name in ("payout-receipt", "statement"):
            await tab.page.emulate_media(media="screen", color_scheme=theme)
            await tab.open(BY_NAME[name].at(site.seeds))
            await tab.page.emulate_media(media="print", color_scheme=theme)
            for chosen in ("", "dark"):
                if chosen:
                    await tab.page.evaluate(
                        "theme => { document.documentElement.dataset.theme = theme }", chosen
                    )
                ground = await tab.page.evaluate(GROUND)
                texts = await tab.page.evaluate(COLOURS)
                light = {each for each in texts if min(channels(each)) > INK}
                printed[name, chosen] = (ground, bool(texts), light)

    assert {what: seen for what, seen in printed.items() if seen != (PAPER, True, set())} == {}


@pytest.mark.parametrize("language", ["en", "pt-BR"])
async def test_important_text_is_not_cut_off_on_the_narrowest_screen(
    browser: Browser, site: PanelSite, language: str
):
    """The certainty of a payout, and the path of a request."""
    look, cut = Look(language=language, width=LEAST_WIDTH), {}
    async with site.tab(browser, await site.people.cookies_of(Role.ADMIN), look) as tab:
        for path, selector in (
            ("/panel/payouts", ".cert > span"),
            ("/panel/requests", "#list a.to code"),
        ):
            await tab.open(path)
            words = await tab.page.evaluate(CUT, selector)
            cut[path] = [text for text, is_cut in words if is_cut] if words else ["no words"]

    assert {path: texts for path, texts in cut.items() if texts} == {}
