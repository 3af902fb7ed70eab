"""What is printed is black on white, whatever theme somebody looks at."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from gateway.domain.identity.rights import Role
from tests.browser.inspection import Look
from tests.browser.panel_site import PanelSite

PAPER = "rgb(255, 255, 255)"
INK = 0x50
"""The lightest ink that a page may have, of 255 in each colour: quiet text included."""

COLOURS = """() => [...document.querySelectorAll("main *")]
  .filter((each) => [...each.childNodes].some((one) => one.nodeType === 3 && /\\S/.test(one.data)))
  .filter((each) => each.checkVisibility())
  .map((each) => getComputedStyle(each).color)"""
GROUND = "() => getComputedStyle(document.body).backgroundColor"


def channels(colour: str) -> list[float]:
    """Read ``rgb(1, 2, 3)``."""
    return [float(each) for each in colour.partition("(")[2].rstrip(")").split(",")[:3]]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("chosen", ["", "dark"])
@pytest.mark.parametrize(
    "path",
    ["/panel/accounts/{main}/payouts/{paid}/receipt", "/panel/accounts/{main}/statement?read=1"],
)
async def test_paper_is_white_and_its_text_dark(
    browser: Browser, site: PanelSite, path: str, theme: str, chosen: str
):
    """The system's dark theme, and a person's own."""
    cookies = dict(await site.people.cookies_of(Role.ADMIN))
    async with site.tab(browser, cookies, Look(theme=theme)) as tab:
        await tab.open(path.format_map(site.seeds))
        if chosen:
            await tab.page.evaluate(
                "theme => { document.documentElement.dataset.theme = theme }", chosen
            )
        await tab.page.emulate_media(media="print", color_scheme=theme)

        ground = await tab.page.evaluate(GROUND)
        texts = await tab.page.evaluate(COLOURS)

        assert ground == PAPER
        assert texts
        assert [each for each in texts if min(channels(each)) > INK] == []
