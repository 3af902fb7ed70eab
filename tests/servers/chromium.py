"""
A browser for tests: the system's own Chromium, driven by Playwright, which downloads nothing.

Found in this order: ``TEST_CHROMIUM``; ``chromium-headless-shell``, which takes a quarter less
CPU, ``chromium``, ``chromium-browser``, ``google-chrome`` in the path; else the tests
skip. Pages are served with a strict content policy, so tests wait with ``expect(locator)``, never
with ``wait_for_function``, which needs ``unsafe-eval``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.servers.demand import absent

if TYPE_CHECKING:
    from playwright.async_api import Browser

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Of Playwright's own list, as the last such flag alone counts.
_WITHOUT = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "TcpPortRandomizationWin",
    "ThirdPartyStoragePartitioning",
    "msEdgeUpdateLaunchServicesPreferredVersion",
    "msForceBrowserSignIn",
)
# The address bar's suggestions are a page in a process of its own, anew for each context: more
# than half of what a context costs.
_NO_SUGGESTIONS = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
FLAGS = [
    "--no-sandbox",  # root in a container has no user namespace to make one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # no page reaches another machine
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    f"--disable-features={','.join(_WITHOUT + _NO_SUGGESTIONS)}",
]


@asynccontextmanager
async def running() -> AsyncIterator[Browser]:
    """Start the browser; a new context for each test keeps their cookies apart."""
    from playwright.async_api import async_playwright  # noqa: PLC0415 - a quarter of a second

    program = os.environ.get("TEST_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        absent("browser", f"no browser: none of {', '.join(NAMES)} in the path")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()
