"""Calls of the partners' interface, tried on a page with somebody else's script."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from msgspec import structs
from playwright.async_api import Browser, expect

from gateway.domain.identity.rights import Role
from tests.browser import panel_site
from tests.browser.panel_site import PanelSite


@pytest_asyncio.fixture(loop_scope="session")
async def described(tmp_path: Path) -> AsyncIterator[PanelSite]:
    """A sandbox that serves its description."""
    plain = panel_site.settings(tmp_path)
    server = structs.replace(plain.server, openapi=True)
    async with panel_site.serving(structs.replace(plain, server=server)) as made:
        yield made


async def test_a_call_is_tried_with_a_credential_that_is_kept_nowhere(
    browser: Browser, described: PanelSite
):
    """Under the policy of every page; leaving it forgets what was typed."""
    site = described
    async with site.tab(browser, await site.people.fresh(Role.VIEWER)) as tab:
        page = tab.page
        await page.goto(f"{site.origin}/panel/reference/try")
        await expect(page.locator(".opblock").first).to_be_visible()

        await page.get_by_role("button", name="Authorize").first.click()
        await page.locator("#auth_username, input[aria-label=auth-basic-username]").first.fill(
            "cli_x"
        )
        await page.locator("input[type=password]").first.fill("canary-of-a-secret")
        await page.locator(".auth-btn-wrapper button[type=submit]").first.click()
        kept = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
        cookies = str(await page.context.cookies())
        await page.reload()
        await expect(page.locator(".opblock").first).to_be_visible()

        assert "canary-of-a-secret" not in kept + cookies + await page.content()
        assert [each for each in tab.findings if "olicy" in str(each)] == []
