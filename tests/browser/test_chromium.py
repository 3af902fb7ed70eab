"""The browser the other tests here rely on."""

from pathlib import Path

from aiohttp import web
from playwright.async_api import Browser, expect

FLAG = "--disable-features="


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


async def test_what_the_driver_switches_off_stays_off(browser: Browser):
    """Chromium takes the last such flag, which is ours: a newer driver's may name more."""
    session = await browser.new_browser_cdp_session()
    told = await session.send("SystemInfo.getProcessInfo")
    [number] = [each["id"] for each in told["processInfo"] if each["type"] == "browser"]
    await session.detach()

    line = Path(f"/proc/{number}/cmdline").read_text(encoding="utf-8").split("\0")
    drivers, ours = (
        set(each.partition("=")[2].split(",")) for each in line if each.startswith(FLAG)
    )

    assert drivers < ours
