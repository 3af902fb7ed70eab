"""
Faults that no page may have, looked for while it loads and afterwards.

Each finding is one line of text; a good page has none. The page's own content security policy stays
in force: our scripts are added by the browser's own protocol.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gateway.process.process import OFFSET
from tests.browser import axe
from tests.world.gateway.world import FROM_NOON

if TYPE_CHECKING:
    from playwright.async_api import Browser, ConsoleMessage, Dialog, Page, Request, Response

WIDE = 1440
NARROW = 390
LEAST_WIDTH = 320
"""What WCAG 1.4.10 asks for: 1,280 px at 400 %."""

ENLARGED = WIDE // 2
"""What is left of the wide window at 200 %."""

HEIGHT = 900
NEVER_MS = 3_600_000
"""The driver's own limits: a test has one, pytest's."""

DOOR = "/panel/login"
LARGEST_SHIFT = 0.02
LOADS = 3
"""A machine that pauses in the middle of a page shows half of it, which shifts then."""

# Seen by no policy of the page: the browser runs both before the page's own first script.
_CLOCK = f"{{ const now = Date.now; Date.now = () => now() + 1000 * {FROM_NOON[OFFSET]}; }}"
"""The gateway's: no test meets the end of a day."""

_WATCHING = """
window.seen = {violations: [], shift: 0};
document.addEventListener("securitypolicyviolation", (event) =>
  window.seen.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (!entry.hadRecentInput) { window.seen.shift += entry.value; }
  }
}).observe({type: "layout-shift", buffered: true});
"""

# The elements that stick out, for the message; what is hidden or scrolls within itself may.
_STICKING_OUT = """() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) { return null; }
  const out = [...document.querySelectorAll("body *")].filter(
    (each) => each.getBoundingClientRect().right > wide + 0.5);
  return out.slice(0, 5).map((each) => each.tagName + "." + each.className).join(", ");
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """
    The settings with which a page is viewed.

    Attributes:
        language: Of the browser: ``pt-BR`` or ``en``.
        theme: Of the system: ``light`` or ``dark``.
        width: In CSS pixels.
    """

    language: str = "pt-BR"
    theme: str = "light"
    width: int = WIDE

    def __str__(self) -> str:
        return f"{self.language} {self.theme} {self.width}"


USUAL = Look()
LOOKS = tuple(
    Look(language=language, theme=theme, width=width)
    for language in ("pt-BR", "en")
    for theme in ("light", "dark")
    for width in (WIDE, NARROW)
)
"""Every page is looked at in each of these ways; the first is the usual one."""


_FOCUSED_ALREADY = (
    "Autofocus processing was blocked because a document already has a focused element."
)
"""Whoever drives the page was faster than its first field."""


@dataclass  # without slots: the driver notes something at whoever listens to it
class Inspection:
    """
    One tab, and what was found wrong in it.

    Attributes:
        origin: The only place that may be asked, without a slash at the end.
        refused: Addresses whose answer may be a refusal: the browser writes a console line.
    """

    page: Page
    origin: str
    findings: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)

    async def open(self, path: str, status: int = 200) -> Response:
        if status >= 400:
            self.refused.add(self.origin + path)
        answer = await self.page.goto(self.origin + path, wait_until="load")
        assert answer is not None
        if answer.status != status:
            self.findings.append(f"{path} answered {answer.status}, not {status}")
        if DOOR in answer.url and DOOR not in path:
            self.findings.append(f"{path} asks to sign in")
        return answer

    async def look(self, *, deep: bool = True) -> list[str]:
        """Check the current page; ``deep`` adds axe and the narrow widths."""
        seen: dict[str, Any] = await self.page.evaluate("window.seen")
        self.findings += [f"policy: {each}" for each in seen["violations"]]
        await self._width()
        if deep:
            self.findings += await axe.violations(self.page)
            width = (self.page.viewport_size or {"width": WIDE})["width"]
            for less in {LEAST_WIDTH, ENLARGED if width == WIDE else LEAST_WIDTH}:
                await self.page.set_viewport_size({"width": less, "height": HEIGHT})
                await self._width()
            await self.page.set_viewport_size({"width": width, "height": HEIGHT})
        shift = await self._shift(seen["shift"])  # last: it may load the page anew
        if shift > LARGEST_SHIFT:
            self.findings.append(f"layout shifts by {shift:.3f}")
        return self.findings

    async def _shift(self, shift: float) -> float:
        """Return the least shift of some loads: one of the page's own is there each time."""
        for _ in range(LOADS):
            if shift > LARGEST_SHIFT:
                await self.page.reload(wait_until="load")
                shift = min(shift, await self.page.evaluate("window.seen.shift"))
        return shift

    async def _width(self) -> None:
        out = await self.page.evaluate(_STICKING_OUT)
        if out is not None:
            width = (self.page.viewport_size or {"width": 0})["width"]
            self.findings.append(f"scrolls sideways at {width} px: {out}")

    def on_console(self, message: ConsoleMessage) -> None:
        """Note a line, but for the browser's own: of a refusal that had to be, of a quick hand."""
        if message.location["url"] not in self.refused and message.text != _FOCUSED_ALREADY:
            self.findings.append(f"console: {message.type}: {message.text}")

    async def on_dialog(self, dialog: Dialog) -> None:
        """Note a dialog, which no page of ours opens, and close it."""
        self.findings.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def on_request(self, request: Request) -> None:
        """Note requests to other servers; inline content makes none."""
        if not request.url.startswith((f"{self.origin}/", "data:", "blob:")):
            self.findings.append(f"asks elsewhere: {request.url}")


@asynccontextmanager
async def inspecting(
    browser: Browser, origin: str, look: Look = USUAL, **options: Any
) -> AsyncIterator[Inspection]:
    """Open a tab that is watched from its first request on, with cookies of its own."""
    context = await browser.new_context(
        locale=look.language,
        color_scheme="dark" if look.theme == "dark" else "light",
        viewport={"width": look.width, "height": HEIGHT},
        timezone_id="America/Sao_Paulo",
        reduced_motion="reduce",
        **options,
    )
    context.set_default_timeout(NEVER_MS)
    try:
        page = await context.new_page()
        await page.add_init_script(_CLOCK + _WATCHING)
        inspection = Inspection(page, origin.rstrip("/"))
        page.on("console", inspection.on_console)
        page.on("dialog", inspection.on_dialog)
        page.on("pageerror", lambda error: inspection.findings.append(f"script: {error}"))
        page.on("request", inspection.on_request)
        yield inspection
    finally:
        await context.close()
