"""The answer to a form with a code is lost, and the user stays signed in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playwright.async_api import Browser, Page, Route, expect

from gateway.core.rights import Role
from tests.browser.panel_site import PanelSite

REASON = "resposta perdida"
LIFT = "form[action$='/lift'] footer button"
POLL = """async () => (await fetch("/panel/badges", {headers: {"X-Asked-By": "timer"}})).url"""
SEND_AGAIN = """async () => {
  const form = document.querySelector("form[action$='/lift']");
  const body = new URLSearchParams(new FormData(form));
  return (await fetch("/panel/stops/new", {method: "POST", body})).text();
}"""


async def ask_to_lift(page: Page, site: PanelSite, code: str) -> None:
    """Stop a bank's payouts, and fill in the form that lifts the stop, which asks for a code."""
    await page.goto(f"{site.origin}/panel/stops/new?scope=provider&subject=sandbox")
    await page.fill("#reason", REASON)
    await page.fill("#words", "sandbox")
    await page.click("form[action$='/stops/new'] footer button")
    await page.locator(f"tr:has-text('{REASON}') a[href$='/lift']").click()
    await page.click(LIFT)
    await expect(page.locator("#code")).to_be_visible()
    await page.fill("#code", code)


async def send_and_lose(page: Page) -> Sequence[Any]:
    """Send the form, and let the browser learn nothing of the answer; return its cookies."""
    held = await page.context.cookies()

    async def lose(route: Route) -> None:
        await route.fetch(max_redirects=0)
        await page.context.clear_cookies()
        await page.context.add_cookies(held)  # type: ignore[arg-type]
        await route.abort("aborted")

    await page.route("**/lift", lose)
    async with page.expect_event("requestfailed"):
        await page.click(LIFT, no_wait_after=True)
    await page.unroute("**/lift")
    return held


async def test_losing_the_answer_to_a_code_signs_no_user_out(browser: Browser, site: PanelSite):
    """A refresh is answered, another form continues, and the next act requires a code again."""
    person = await site.people.make(Role.OPERATOR)
    cookies = await site.people.sign_in(person)
    await site.people.age_factor(person)
    async with site.tab(browser, cookies) as tab:
        page = tab.page
        await ask_to_lift(page, site, person.code())
        held = await send_and_lose(page)

        polled = await page.evaluate(POLL)
        again = await page.evaluate(SEND_AGAIN)
        await page.goto(f"{site.origin}/panel/stops")

        assert polled.endswith("/panel/badges")
        assert "não chegou" in again
        await expect(page.locator("[aria-labelledby=over]")).to_contain_text(REASON)
        assert await page.context.cookies() != held
        await ask_to_lift(page, site, person.code())
        await page.click(LIFT)
        await expect(page).to_have_url(f"{site.origin}/panel/stops")
