"""A form that was refused, in a browser: what is wrong is marked, and what was typed stays."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.async_api import Browser, expect
from sqlalchemy import update

from gateway.domain.identity.rights import Role
from gateway.store.tables.identity import sessions
from tests.browser.inspection import LOOKS, Look
from tests.browser.panel_site import PanelSite


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[3]], ids=str)
async def test_a_wrong_field_is_marked_for_whoever_sees_and_whoever_listens(
    browser: Browser, site: PanelSite, look: Look
):
    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR), look) as tab:
        tab.refused.add(f"{site.origin}/panel/stops/new")
        await tab.open("/panel/stops/new?scope=provider&subject=sandbox")
        await tab.page.fill("#reason", "conferência")
        await tab.page.fill("#words", "sandbo")

        await tab.page.get_by_role("button", name="Parar pagamentos").click()

        words = tab.page.locator("#words")
        await expect(words).to_have_attribute("aria-invalid", "true")
        await expect(words).to_have_accessible_description(re.compile("O que foi digitado"))
        await expect(words).to_have_value("sandbo")
        assert await tab.look() == []


async def test_what_is_typed_stays_while_the_page_looks_again(browser: Browser, site: PanelSite):
    """A charge that is open asks for itself every five seconds."""
    charge = site.seeds["open_charge"]
    path = f"/panel/accounts/{site.seeds['main']}/charges/{charge}?read=1"
    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR)) as tab:
        await tab.open(path)
        words, button = tab.page.locator("#words"), tab.page.locator("#cancel-now")

        await words.fill(charge[:-1])
        async with tab.page.expect_response(lambda said: "/charges/" in said.url):
            pass
        async with tab.page.expect_response(lambda said: "/charges/" in said.url):
            pass

        await expect(words).to_have_value(charge[:-1])
        await expect(button).to_be_disabled()
        await words.press_sequentially(charge[-1])
        await expect(button).to_be_enabled()
        assert tab.findings == []


async def test_a_code_is_asked_for_in_a_page_without_a_finding(browser: Browser, site: PanelSite):
    person = await site.people.make(Role.OPERATOR)
    cookies = await site.people.sign_in(person)
    long_ago = site.world.gateway.kernel.now() - timedelta(hours=1)
    async with site.world.gateway.kernel.store.database.writing() as connection:
        theirs = update(sessions).where(sessions.c.user_id == person.id)
        await connection.execute(theirs.values(factor_at=long_ago))
    async with site.tab(browser, cookies) as tab:
        tab.refused.add(f"{site.origin}/panel/me/factor/remove")
        await tab.open("/panel/me")
        await tab.page.fill("#words", "remover")

        await tab.page.get_by_role("button", name="Remover o aplicativo").click()

        await expect(tab.page.get_by_text("Confirme com um código.")).to_be_visible()
        await expect(tab.page.locator("#words")).to_have_value("remover")
        await expect(tab.page.locator("#code")).to_be_focused()
        assert await tab.look() == []
