"""What must be read whole on the narrowest screen: how certain a payout is, and what was called."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from gateway.domain.identity.rights import Role
from tests.browser.inspection import LEAST_WIDTH, Look
from tests.browser.panel_site import PanelSite

CUT = """selector => [...document.querySelectorAll(selector)]
  .filter((each) => each.checkVisibility())
  .map((each) => {
    const cell = each.closest("th, td").getBoundingClientRect();
    const words = document.createRange();
    words.selectNodeContents(each);
    const outside = [...words.getClientRects()].some((line) => line.right > cell.right + 0.5);
    return [each.textContent.trim(), outside];
  })"""


@pytest.mark.parametrize("language", ["en", "pt-BR"])
@pytest.mark.parametrize(
    ("path", "selector"), [("/panel/payouts", ".cert > span"), ("/panel/requests", "a.to code")]
)
async def test_nothing_that_counts_is_cut(
    browser: Browser, site: PanelSite, language: str, path: str, selector: str
):
    look = Look(language=language, width=LEAST_WIDTH)
    async with site.tab(browser, await site.people.cookies_of(Role.ADMIN), look) as tab:
        await tab.open(path)

        words = await tab.page.evaluate(CUT, selector)

        assert words
        assert [text for text, is_cut in words if is_cut] == []
