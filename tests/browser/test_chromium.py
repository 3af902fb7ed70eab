"""The browser the other tests here rely on."""

from aiohttp import web
from playwright.async_api import Browser, expect


async def page(_: web.Request) -> web.Response:
    """Answer anything, the icon included, with a heading."""
    return web.Response(text="<h1>Olá</h1>", content_type="text/html", charset="utf-8")


async def test_the_browser_renders_a_page_served_on_the_loopback(browser: Browser, served):
    """No page of ours is needed to know that browser, driver and loop fit together."""
    application = web.Application()
    application.router.add_get("/{any:.*}", page)
    tab = await browser.new_page()

    await tab.goto(await served(application))

    await expect(tab.get_by_role("heading")).to_have_text("Olá")
    await tab.close()
