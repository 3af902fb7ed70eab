"""What an open page refreshes by itself, and what it leaves as the user left it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import pytest_asyncio
from msgspec import structs
from playwright.async_api import Browser, Page, expect

from gateway.core.audit import AuditEvent
from gateway.core.company_scope import StopScope
from gateway.core.rights import Role
from gateway.stops.model import Stop
from tests.browser import panel_site
from tests.browser.panel_site import PanelSite
from tests.world.gateway.world import order
from tests.world.stops import plant


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def lively(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PanelSite]:
    """Return a gateway of our own, in which something happens; it serves its description."""
    plain = panel_site.settings(tmp_path_factory.mktemp("live"))
    server = structs.replace(plain.server, openapi=True)
    async with panel_site.serving(structs.replace(plain, server=server)) as made:
        yield made


async def tick(page: Page, event: str = "panel:tick") -> None:
    """Let time pass, as the page's one timer does, and wait for what is asked then."""
    await page.wait_for_selector("[data-htmx-powered]", state="attached")
    async with page.expect_response(lambda said: "/panel/" in said.url):
        await page.evaluate(f"document.body.dispatchEvent(new Event('{event}'))")


async def stop(site: PanelSite) -> None:
    kernel = site.world.gateway.kernel
    now = kernel.now()
    made = Stop(
        id=str(uuid4()),
        scope=StopScope.COMPANY,
        subject=site.seeds["nothing"],
        reason="conferência",
        created_by="user:renata@example.com",
        created_at=now,
        ends_at=now.replace(year=now.year + 1),
    )
    event = AuditEvent(at=now, actor="cli", action="stop.pulled", subject=f"stop:{made.id}")
    await plant(kernel.store, made, event)


async def test_a_filter_keeps_parameters_without_a_field(browser: Browser, lively: PanelSite):
    """Chips, form and list agree after a change, and "More filters" keeps all parameters."""
    async with lively.tab(browser, await lively.people.cookies_of(Role.ADMIN)) as tab:
        await tab.open("/panel/requests?code=SVC.AUT.003&reason=permission")
        chips = tab.page.locator("#list .chip")
        await expect(chips).to_have_count(2)

        await tab.page.select_option("#status_class", "4")

        await expect(chips).to_have_count(3)
        await expect(tab.page).to_have_url(re.compile("reason=permission.*"))
        await expect(tab.page).to_have_url(re.compile("status_class=4"))
        await tab.page.get_by_role("button", name="Mais filtros").click()
        await tab.page.locator("#more").get_by_role("button", name="Filtrar").click()
        await expect(chips).to_have_count(3)
        await chips.nth(0).get_by_role("link").click()
        await expect(chips).to_have_count(2)
        assert tab.findings == []


async def test_menu_counts_are_refreshed_and_announced(browser: Browser, lively: PanelSite):
    async with lively.tab(browser, await lively.people.cookies_of(Role.ADMIN)) as tab:
        await tab.open("/panel/audit")
        count = tab.page.locator("#n-stops")
        before = int(await count.inner_text())
        await stop(lively)

        await tick(tab.page, "panel:badges")

        await expect(count).to_have_text(str(before + 1))
        await expect(tab.page.locator("#said")).to_have_text(f"Bloqueios de pagamento {before + 1}")
        assert tab.findings == []


async def test_the_title_of_the_tab_has_the_number_of_tasks(browser: Browser, lively: PanelSite):
    async with lively.tab(browser, await lively.people.cookies_of(Role.APPROVER)) as tab:
        await tab.open("/panel/approvals")
        titled = re.compile(r"^\([1-9]\d*\) Aprovações · Sandbox · pixgate$")
        await expect(tab.page).to_have_title(titled)
        await tab.page.evaluate("document.title = document.title.replace(/^.*?\\) /, '(99) ')")

        await tick(tab.page, "panel:badges")

        await expect(tab.page).to_have_title(titled)
        await expect(tab.page).not_to_have_title(re.compile("99"))
        assert tab.findings == []


async def test_the_number_of_filter_results_is_announced(browser: Browser, lively: PanelSite):
    async with lively.tab(browser, await lively.people.cookies_of(Role.ADMIN)) as tab:
        await tab.open("/panel/credentials")
        said = tab.page.locator("#said")

        await tab.page.fill("#f", "demo none")
        await expect(said).to_have_text("1–1 de 1")
        await tab.page.fill("#f", "nothing like that")

        await expect(said).to_have_text("Nenhuma credencial corresponde")


async def test_a_list_renews_itself_while_something_is_open(browser: Browser, lively: PanelSite):
    """The focused row keeps the focus wherever it moves."""
    async with lively.tab(browser, await lively.people.cookies_of(Role.ADMIN)) as tab:
        await tab.open("/panel/payouts")
        first = tab.page.locator("#list a.to").first
        await first.focus()
        focused = await first.get_attribute("href")
        reference = f"pedido-{uuid4().hex[:8]}"
        await lively.world.pay(order(reference, lively.world.today(), value=3.21))

        await tick(tab.page)

        await expect(tab.page.locator("#list")).to_contain_text(reference)
        await expect(tab.page.locator(f"#list a[href='{focused}']")).to_be_focused()
        await tab.open("/panel/payouts?tab=failed")
        await expect(tab.page.locator("#list")).not_to_have_attribute("hx-trigger", re.compile("."))
        assert tab.findings == []


async def test_text_typed_beside_a_refreshing_list_is_kept(browser: Browser, lively: PanelSite):
    async with lively.tab(browser, await lively.people.cookies_of(Role.APPROVER)) as tab:
        await tab.open("/panel/unresolved")
        await tab.page.fill("#why", "extrato do banco, linha 7")

        await tick(tab.page)

        await expect(tab.page.locator("#why")).to_have_value("extrato do banco, linha 7")
        await expect(tab.page.locator("#why")).to_be_focused()
        await expect(tab.page.locator("#list li")).not_to_have_count(0)
        assert tab.findings == []


async def test_a_credential_typed_into_the_api_reference_is_stored_nowhere(
    browser: Browser, lively: PanelSite
):
    """Under the content security policy of every page; leaving the page discards it."""
    site = lively
    async with site.tab(browser, await site.people.fresh(Role.VIEWER)) as tab:
        page = tab.page
        await page.goto(f"{site.origin}/panel/reference")
        await page.get_by_role("link", name="Página para parceiros").click()
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
