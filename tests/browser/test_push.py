"""
The script that subscribes a browser to push messages, and the service worker that shows them.

A headless Chromium reaches no push service: its push manager is replaced, all else is real.
"""

from __future__ import annotations

from playwright.async_api import Browser, expect

from gateway.core.rights import Role
from tests.browser.panel_site import PanelSite
from tests.world.notifications import SIGNER, a_browser, encoded

PAGE = "/panel/me/notifications"
SUBSCRIBED = """([endpoint, p256dh, auth]) => {
  const made = { toJSON: () => ({ endpoint, keys: { p256dh, auth } }) };
  const pushManager = {
    getSubscription: async () => null,
    subscribe: async (wanted) => {
      document.documentElement.dataset.wanted = btoa(
        String.fromCharCode(...wanted.applicationServerKey)
      );
      return made;
    },
  };
  navigator.serviceWorker.register = async (script) => ({ script, pushManager });
}"""
DENIED = """() => {
  navigator.serviceWorker.register = async () => {
    throw new DOMException("denied", "NotAllowedError");
  };
}"""
WORKER = """async () => {
  const registration = await navigator.serviceWorker.register("/panel/worker.js");
  return [registration.scope, (await navigator.serviceWorker.ready).active.scriptURL];
}"""


async def test_a_browser_subscribes_and_is_removed(browser: Browser, site: PanelSite):
    receiver = a_browser()
    given = ["https://push.example.com/x", encoded(receiver.public), encoded(receiver.auth)]
    async with site.tab(browser, await site.people.fresh(Role.APPROVER)) as tab:
        page = tab.page
        await page.goto(f"{site.origin}{PAGE}")
        await page.evaluate(SUBSCRIBED, given)

        await page.get_by_role("button", name="Enviar a este navegador").click()

        await expect(page.get_by_role("button", name="Remover o navegador")).to_be_visible()
        assert "push.example.com" not in await page.content()
        await page.get_by_role("button", name="Remover o navegador").click()
        await expect(page.get_by_text("Nenhum ainda")).to_be_visible()
        assert tab.findings == []


async def test_a_browser_that_does_not_allow_it_says_so(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.fresh(Role.APPROVER)) as tab:
        page = tab.page
        await page.goto(f"{site.origin}{PAGE}")
        assert await page.get_attribute("#subscribe", "data-key") == SIGNER.public
        await page.evaluate(DENIED)

        await page.get_by_role("button", name="Enviar a este navegador").click()

        await expect(page.get_by_text("O navegador não permite")).to_be_visible()


async def test_the_worker_runs_under_the_policy_of_the_panel(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.fresh(Role.APPROVER)) as tab:
        await tab.page.goto(f"{site.origin}{PAGE}")

        scope, script = await tab.page.evaluate(WORKER)

        assert scope == f"{site.origin}/panel/"
        assert script == f"{site.origin}/panel/worker.js"
        assert tab.findings == []
