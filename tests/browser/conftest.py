"""Browser tests share the browser's loop, which is the session's; so must what they talk to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import expect

from tests.browser import panel_site
from tests.browser.inspection import NEVER_MS
from tests.browser.panel_site import PanelSite

HERE = Path(__file__).parent

# Longer than pytest waits for a test: a page that never shows what it should fails there.
expect.set_options(timeout=NEVER_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run every asynchronous test below this folder in the session's loop."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("asyncio"):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(loop_scope="session")
async def served() -> AsyncIterator[Callable[[web.Application], Awaitable[str]]]:
    """Serve an application in this loop and return its address; ``aiohttp_server`` has another."""
    async with AsyncExitStack() as stack:

        async def serve(application: web.Application) -> str:
            server = await stack.enter_async_context(TestServer(application))
            return str(server.make_url("/"))

        yield serve


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PanelSite]:
    """
    One gateway for all pages that are only looked at; who changes much makes another.

    It ends with the last of these tests: it has taken over the logging of the process, and a
    gateway whose loop stands still while other tests run sheds load when it wakes.
    """
    async with panel_site.serving(panel_site.settings(tmp_path_factory.mktemp("panel"))) as made:
        yield made
