"""What a list shows is what its filter says, whatever comes late: scripts, answers, the timer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Request, Route, expect

import gateway
from gateway.core.rights import Role
from tests.browser.panel_site import PanelSite

TEMPLATES = Path(gateway.__file__).parent / "panel/templates"
FORM = re.compile(r'<form class="filters"[^>]*>.*?</form>', re.DOTALL)
LISTS = re.compile(r"/panel/payouts\?|/panel/payouts$")
ENDED = """document.addEventListener("htmx:finally:request", ({detail}) => {
  const who = detail.ctx.request.headers["X-Asked-By"] ?? "filter";
  document.documentElement.classList.add(`${who}-ended`);
})"""
FILTERS: Mapping[str, str] = {
    "/panel/payouts": "#days",
    "/panel/requests": "#status_class",
    "/panel/callbacks": "#kind",
    "/panel/charges": "#account",
    "/panel/received": "#account",
    "/panel/accounts": "#company",
}


async def without_scripts(page: Page) -> asyncio.Event:
    """Hold the scripts of the next page back until the event is set."""
    come = asyncio.Event()

    async def hold(route: Route) -> None:
        await come.wait()
        await route.continue_()

    await page.route("**/*.js", hold)
    return come


def asked(name: str, value: str) -> re.Pattern[str]:
    return re.compile(rf"[?&]{name}={re.escape(value)}(&|$)")


@pytest.mark.parametrize("path", FILTERS)
async def test_a_choice_made_before_the_scripts_run_is_sent(
    browser: Browser, site: PanelSite, path: str
):
    async with site.tab(browser, await site.people.cookies_of(Role.ADMIN)) as tab:
        page, field = tab.page, tab.page.locator(FILTERS[path])
        come = await without_scripts(page)
        await page.goto(site.origin + path, wait_until="commit")

        (chosen,) = await field.select_option(index=1)
        name = str(await field.get_attribute("name"))
        come.set()

        await expect(page).to_have_url(asked(name, chosen))
        await expect(field).to_have_value(chosen)
        assert tab.findings == []


async def test_text_typed_before_the_scripts_run_is_searched(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.cookies_of(Role.SECURITY)) as tab:
        come = await without_scripts(tab.page)
        await tab.page.goto(f"{site.origin}/panel/credentials", wait_until="commit")

        await tab.page.fill("#f", "demo none")
        come.set()

        await expect(tab.page.locator("#list a.to")).to_have_count(1)


async def test_required_fields_follow_a_choice_made_before_the_scripts_run(
    browser: Browser, site: PanelSite
):
    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR)) as tab:
        come = await without_scripts(tab.page)
        await tab.page.goto(f"{site.origin}/panel/stops/new", wait_until="commit")

        await tab.page.select_option("#subject", "everything:")
        come.set()

        label = tab.page.locator("label[for=words]")
        await expect(label).to_have_text("Digite “bloquear tudo”")


async def test_the_last_of_several_quick_choices_is_applied(browser: Browser, site: PanelSite):
    """Each is made before the answer to the previous one has arrived."""
    async with site.tab(browser, await site.people.cookies_of(Role.ADMIN)) as tab:
        page, go = tab.page, asyncio.Event()
        await tab.open("/panel/payouts")
        await expect(page.locator("form.filters[data-htmx-powered]")).to_have_count(1)

        async def hold(route: Route) -> None:
            await go.wait()
            await route.continue_()

        await page.route(LISTS, hold)
        for days in ("yesterday", "30", "90"):
            await page.select_option("#days", days)
        go.set()

        await expect(page).to_have_url(asked("days", "90"))
        await expect(page.locator("#list .tabs a").first).to_have_attribute(
            "href", asked("days", "90")
        )
        assert tab.findings == []


@pytest.mark.parametrize("order", [("timer", "filter"), ("filter", "timer")], ids=" ".join)
async def test_a_timer_s_answer_does_not_restore_an_old_list(
    browser: Browser, site: PanelSite, order: tuple[str, str]
):
    """Both are under way at once, and arrive in either order."""
    turns = {who: asyncio.Event() for who in order}

    def whose(request: Request) -> str:
        return "timer" if "x-asked-by" in request.headers else "filter"

    async def hold(route: Route) -> None:
        await turns[whose(route.request)].wait()
        await route.continue_()

    async with site.tab(browser, await site.people.cookies_of(Role.ADMIN)) as tab:
        page = tab.page
        await tab.open("/panel/payouts")
        await expect(page.locator("#list[data-htmx-powered]")).to_have_count(1)
        await page.route(LISTS, hold)
        await page.evaluate(ENDED)
        async with page.expect_request(lambda sent: whose(sent) == "timer"):
            await page.evaluate("document.body.dispatchEvent(new Event('panel:tick'))")
        async with page.expect_request(lambda sent: whose(sent) == "filter"):
            await page.select_option("#days", "90")

        for who in order:
            turns[who].set()
            await expect(page.locator(f"html.{who}-ended")).to_have_count(1)

        await expect(page.locator("#list .tabs a").first).to_have_attribute(
            "href", asked("days", "90")
        )
        await expect(page.locator("#list")).to_have_attribute("hx-get", asked("days", "90"))
        assert tab.findings == []


def test_every_self_submitting_filter_ignores_late_answers():
    """A newer request cancels an older one, and the browser restores no field."""
    forms = {
        f"{path.stem}: {each[:60]}": each
        for path in TEMPLATES.rglob("*.html")
        for each in FORM.findall(path.read_text())
        if "hx-get" in each or "data-submits" in each
    }

    assert len(forms) >= len(FILTERS)
    assert [name for name, each in forms.items() if 'autocomplete="off"' not in each] == []
    asks = {name: each for name, each in forms.items() if "hx-get" in each}
    assert [name for name, each in asks.items() if 'hx-sync="replace"' not in each] == []
