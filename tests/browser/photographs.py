"""
Photographs of every screen, in both themes and widths, into ``docs/screens``.

A photograph is written anew only where it shows something else: instants and ids of a run differ
from those of the next, and a page is no other for that. A word alone changes too few pixels to be
told from them: screens that are named are photographed anew whatever they show.
"""

from __future__ import annotations

import asyncio
import base64
import re
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.browser import panel_site
from tests.browser.inspection import HEIGHT, LOOKS, Look
from tests.browser.panel_site import PanelSite
from tests.browser.screens import SCREENS, Case, Screen
from tests.servers import chromium

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "screens"
LARGEST: Final = 200 * 1024
TALLEST: Final = 2_400
"""In CSS pixels; a list goes on as it began."""

SAME: Final = 0.01
"""The share of pixels that may differ: digits of instants and ids, but no line more."""

SECRET: Final = re.compile(r"gws_[\w-]{20,}")
"""A credential's secret, which stands in one answer and in no photograph."""

SHOWN: Final = tuple(look for look in LOOKS if look.language == "pt-BR")

# Compared by the browser, which can read PNG; it needs no page of ours for that.
_DIFFERING = """async ([old, new_]) => {
  const pixels = async (text) => {
    const blob = new Blob([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))]);
    const image = await createImageBitmap(blob);
    const paper = new OffscreenCanvas(image.width, image.height).getContext("2d");
    paper.drawImage(image, 0, 0);
    return [image.width, image.height, paper.getImageData(0, 0, image.width, image.height).data];
  };
  const [[width, height, before], [wide, high, after]] = [await pixels(old), await pixels(new_)];
  if (width !== wide || height !== high) { return 1; }
  let differing = 0;
  for (let place = 0; place < before.length; place += 4) {
    differing += before[place] !== after[place] || before[place + 1] !== after[place + 1]
      || before[place + 2] !== after[place + 2];
  }
  return differing / (width * height);
}"""


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


async def differs(page: Page, old: Path, new: bytes) -> bool:
    """Say whether a photograph shows something else than the one in a file."""
    if not old.exists():
        return True
    pair = [base64.b64encode(each).decode() for each in (old.read_bytes(), new)]
    share: float = await page.evaluate(_DIFFERING, pair)
    return share > SAME


async def take(
    browser: Browser, site: PanelSite, screen: Screen, look: Look, *, anew: bool
) -> bool:
    """Photograph a screen in one way; say whether the file is a new one, as it is if ``anew``."""
    case = Case(screen=screen, state="data", look=look)
    file = FOLDER / f"{screen.name}-{look.width}-{look.theme}.png"
    async with site.tab(browser, await site.cookies(case), look) as tab:
        answer = await tab.open(screen.at(site.seeds))
        if not answer.ok:
            problem = f"{case} answered {answer.status}: it is no screen to be photographed"
            raise ValueError(problem)
        # A font that came late is for the second time.
        await tab.page.reload()
        await tab.page.wait_for_load_state("networkidle")
        if SECRET.search(await tab.page.content()):
            problem = f"{case} shows a secret: it is no screen to be photographed"
            raise ValueError(problem)
        taken = await photograph(tab.page)
    blank = await browser.new_page()
    try:
        if not anew and not await differs(blank, file, taken):
            return False
    finally:
        await blank.close()
    file.write_bytes(taken)
    return True


async def take_all(names: frozenset[str]) -> None:
    """Photograph the screens of these names, or all, and drop photographs of screens gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="screens-")))
        site = await stack.enter_async_context(panel_site.serving(panel_site.settings(folder)))
        browser = await stack.enter_async_context(chromium.running())
        for screen in SCREENS:
            if names and screen.name not in names:
                continue
            new = [
                str(look)
                for look in SHOWN
                if await take(browser, site, screen, look, anew=screen.name in names)
            ]
            print(f"{screen.name}: {', '.join(new) or 'as before'}", file=sys.stderr)  # noqa: T201 - a command
    kept = {f"{each.name}-{look.width}-{look.theme}.png" for each in SCREENS for look in SHOWN}
    for file in FOLDER.glob("*.png"):
        if file.name not in kept:
            file.unlink()


if __name__ == "__main__":
    asyncio.run(take_all(frozenset(sys.argv[1:])))
