"""The browser, and that each fault is found where it was planted; a good page has none."""

from __future__ import annotations

from pathlib import Path

from aiohttp import web
from playwright.async_api import Browser

from tests.browser.inspection import NARROW, Look, inspecting

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: http://127.0.0.2:9; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
FLAG = "--disable-features="
GOOD = "<h1>Olá</h1><p>Tudo em ordem.</p>"
FAULTS = {
    "a line in the console": ('<script src="/log.js"></script>', "console: log"),
    "an error in a script": ('<script src="/error.js"></script>', "script: "),
    "a script within the page": ("<script>1</script>", "policy: script-src-elem inline"),
    "a style in an attribute": ('<p style="color: red">.</p>', "policy: style-src-attr inline"),
    "an event in an attribute": ('<p onclick="x()">.</p>', "policy: script-src-attr inline"),
    "a picture of others": ('<img alt="" src="http://127.0.0.2:9/a.png">', "asks elsewhere: "),
    "a missing file": ('<img alt="" src="/missing.png">', "console: error"),
    "a table that is too wide": ('<pre class="w">' + "m" * 900 + "</pre>", "scrolls sideways"),
    "a picture without words": ('<img src="/dot.png">', "axe: image-alt"),
    "a field without a name": ("<input>", "axe: label"),
}


def written(body: str) -> str:
    head = '<meta name="viewport" content="width=device-width"><title>Olá</title>'
    icon = '<link rel="icon" href="data:,">'
    return f'<!doctype html><html lang="pt-BR">{head}{icon}<main>{body}</main></html>'


def application(body: str) -> web.Application:
    """Serve a page under the policy of the panel's, and two scripts."""

    async def page(asked: web.Request) -> web.Response:
        text, headers = written(body), {"Content-Security-Policy": POLICY}
        status = 404 if asked.path == "/nothing" else 200
        return web.Response(text=text, content_type="text/html", headers=headers, status=status)

    def script(text: str) -> web.Response:
        return web.Response(text=text, content_type="text/javascript")

    async def log(_: web.Request) -> web.Response:
        return script("console.log('seen')")

    async def error(_: web.Request) -> web.Response:
        return script("throw new Error('seen')")

    async def dot(_: web.Request) -> web.Response:
        return web.Response(
            text="<svg xmlns='http://www.w3.org/2000/svg'/>", content_type="image/svg+xml"
        )

    served = web.Application()
    served.router.add_get("/", page)
    served.router.add_get("/nothing", page)
    served.router.add_get("/log.js", log)
    served.router.add_get("/error.js", error)
    served.router.add_get("/dot.png", dot)
    return served


async def test_a_good_page_has_no_finding(browser: Browser, served):
    origin = await served(application(GOOD))

    async with inspecting(browser, origin) as inspection:
        await inspection.open("/")
        found = await inspection.look()

    assert found == []


async def test_each_planted_fault_is_found(browser: Browser, served):
    found = {}
    for fault, (body, _) in FAULTS.items():
        origin = await served(application(GOOD + body))
        async with inspecting(browser, origin) as inspection:
            await inspection.open("/")
            found[fault] = await inspection.look()

    assert {
        fault: found[fault]
        for fault, (_, line) in FAULTS.items()
        if not any(each.startswith(line) for each in found[fault])
    } == {}


async def test_an_expected_error_status_is_no_finding(browser: Browser, served):
    """The browser itself logs a line for each answer of 400 and more."""
    origin = await served(application(GOOD))

    async with inspecting(browser, origin, Look(width=NARROW)) as inspection:
        await inspection.open("/nothing", 404)
        meant = list(inspection.findings)
        await inspection.open("/", 404)

    assert meant == []
    assert inspection.findings == ["/ answered 200, not 404"]


async def test_options_switched_off_by_the_driver_stay_off(browser: Browser):
    """Chromium uses the last such flag, which is ours; a newer driver may disable more."""
    session = await browser.new_browser_cdp_session()
    told = await session.send("SystemInfo.getProcessInfo")
    [number] = [each["id"] for each in told["processInfo"] if each["type"] == "browser"]
    await session.detach()

    line = Path(f"/proc/{number}/cmdline").read_text(encoding="utf-8").split("\0")
    drivers, ours = (
        set(each.partition("=")[2].split(",")) for each in line if each.startswith(FLAG)
    )

    assert drivers < ours
