"""
Photographs of every screen, in both themes and widths, into ``var/screens``, which git ignores.

The few that the documents show are also written to ``docs/screens``.
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PIL import Image

from tests.browser import panel_site
from tests.browser.inspection import HEIGHT, LOOKS, Look
from tests.browser.panel_site import PanelSite
from tests.browser.screens import SCREENS, Case, Screen
from tests.servers import chromium

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "var" / "screens"
SHOWN_IN_DOCS: Final = ROOT / "docs" / "screens"
"""A photograph that is here already is replaced; no other is added."""

LARGEST: Final = 200 * 1024
TALLEST: Final = 2_400
"""In CSS pixels; a list goes on as it began."""

SECRET: Final = re.compile(r"gws_[\w-]{20,}")
"""A credential's secret, which stands in one answer and in no photograph."""

SHOWN: Final = tuple(look for look in LOOKS if look.language == "pt-BR")


async def photograph(page: Page) -> bytes:
    """Take the page down to its end; where that is too large a file, what a window shows."""
    height = await page.evaluate("document.documentElement.scrollHeight")
    width = (page.viewport_size or {"width": 0})["width"]
    for tall in (min(height, TALLEST), HEIGHT, HEIGHT // 2):
        clip = {"x": 0, "y": 0, "width": width, "height": tall}
        taken = await page.screenshot(
            clip=clip, full_page=True, animations="disabled", caret="hide", scale="css"
        )
        if len(taken) <= LARGEST:
            break
    return taken


def in_palette(picture: bytes) -> bytes:
    """Write a picture with 256 colours: the same to the eye, and less than half as large."""
    few = Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, kmeans=4, dither=0)
    written = io.BytesIO()
    few.save(written, "PNG", optimize=True)
    return written.getvalue()


async def take(browser: Browser, site: PanelSite, screen: Screen, look: Look) -> None:
    case = Case(screen=screen, state="data", look=look)
    async with site.tab(browser, await site.cookies(case), look) as tab:
        answer = await tab.open(screen.at(site.seeds))
        if not answer.ok:
            problem = f"{case} answered {answer.status}: it is no screen to be photographed"
            raise ValueError(problem)
        # The second time fonts are there, and balances for which the banks were asked.
        await tab.page.wait_for_load_state("networkidle")
        await tab.page.reload()
        await tab.page.wait_for_load_state("networkidle")
        if SECRET.search(await tab.page.content()):
            problem = f"{case} shows a secret: it is no screen to be photographed"
            raise ValueError(problem)
        taken = await photograph(tab.page)
    name = f"{screen.name}-{look.width}-{look.theme}.png"
    (FOLDER / name).write_bytes(taken)
    if (SHOWN_IN_DOCS / name).exists():
        (SHOWN_IN_DOCS / name).write_bytes(in_palette(taken))


async def take_all(names: frozenset[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="screens-")))
        site = await stack.enter_async_context(panel_site.serving(panel_site.settings(folder)))
        browser = await stack.enter_async_context(chromium.running())
        for screen in SCREENS:
            if names and screen.name not in names:
                continue
            for look in SHOWN:
                await take(browser, site, screen, look)
            print(screen.name, file=sys.stderr)  # noqa: T201 - a command


if __name__ == "__main__":
    asyncio.run(take_all(frozenset(sys.argv[1:])))
