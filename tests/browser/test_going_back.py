"""Going back: what a form was answered with is not asked for again, and no page of errors comes."""

from __future__ import annotations

import re

from playwright.async_api import Browser, expect

from gateway.domain.identity.rights import Role
from tests.browser.panel_site import PanelSite


async def test_one_goes_back_to_what_was_found(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR)) as tab:
        await tab.open("/panel")
        await tab.page.fill("#q", "pedido-10")
        await tab.page.press("#q", "Enter")
        await tab.page.locator("a.to").first.click()
        await expect(tab.page).to_have_url(re.compile("/payouts/pedido-10"))

        await tab.page.go_back()

        await expect(tab.page).to_have_url(re.compile("/panel/search.q=pedido-10"))
        await expect(tab.page.locator("a.to")).not_to_have_count(0)


async def test_one_goes_back_from_a_payout_to_an_empty_form(browser: Browser, site: PanelSite):
    """Its summary holds a tax number, which stands in no address."""
    async with site.tab(browser, await site.people.fresh(Role.OPERATOR)) as tab:
        await tab.open("/panel/payouts/new?to=bank_account")
        await tab.page.select_option("[name=account_id]", site.seeds["main"])
        for name, typed in (("name", "Maria"), ("tax_number", "52998224725"), ("value", "1,00")):
            await tab.page.fill(f"[name={name}]", typed)
        for name, typed in (("bank_number", "341"), ("branch", "0001"), ("account", "123456-7")):
            await tab.page.fill(f"[name={name}]", typed)
        await tab.page.locator("main form").last.locator("button[type=submit]").last.click()
        await expect(tab.page.locator("[name=step][value=send]")).to_have_count(1)
        await tab.open("/panel/payouts")

        await tab.page.go_back()

        await expect(tab.page).to_have_url(re.compile("/panel/payouts/new"))
        await expect(tab.page.locator("[name=tax_number]")).to_have_value("")
