"""A gateway with something of everything in it, its pages, and who looks at them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.config.identity import Session
from gateway.config.listeners import Server
from gateway.config.settings import Notifications, Settings
from tests.browser import seeds
from tests.browser.inspection import USUAL, Inspection, Look, inspecting
from tests.browser.people import NOBODY, People
from tests.browser.screens import Case
from tests.servers.process import free_port
from tests.world.gateway.world import World, opened, sandbox
from tests.world.notifications import PUSH_KEY

if TYPE_CHECKING:
    from playwright.async_api import Browser

Prepare = Callable[[World], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSite:
    """
    The panel, served.

    Attributes:
        seeds: What was planted, by the names that paths have in braces.
        walks: Walks through the pages, by who walked (``walking.walk_of``).
    """

    world: World
    people: People
    seeds: Mapping[str, str]
    walks: dict[str, Any] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Where the pages are, without a slash at the end."""
        return self.people.origin

    async def cookies(self, case: Case) -> Mapping[str, str]:
        if case.state == "closed":
            return await self.people.cookies_of(case.screen.closed_to or NOBODY)
        company = self.seeds["nothing"] if case.state == "empty" else ""
        return await self.people.cookies_of(case.screen.by, company)

    @asynccontextmanager
    async def tab(
        self, browser: Browser, cookies: Mapping[str, str], look: Look = USUAL, **options: object
    ) -> AsyncIterator[Inspection]:
        async with inspecting(browser, self.origin, look, **options) as inspection:
            await inspection.page.context.add_cookies(
                [
                    {"name": name, "value": value, "url": self.origin}
                    for name, value in cookies.items()
                ]
            )
            yield inspection


def settings(folder: Path, **changed: object) -> Settings:
    """Return the settings of a sandbox whose pages come over plain HTTP from a known port."""
    server = Server(port=free_port(), drain_accept_s=0, drain_s=90)
    changed.setdefault("notifications", Notifications(push_key=PUSH_KEY))
    return sandbox(folder, server=server, session=Session(insecure_dev=True), **changed)


@asynccontextmanager
async def serving(wanted: Settings, before: Prepare | None = None) -> AsyncIterator[PanelSite]:
    """Run a gateway and plant something of everything in it, once ``before`` has prepared it."""
    async with opened(wanted) as world:
        if before is not None:
            await before(world)
        planted = await seeds.plant(world)
        yield PanelSite(world=world, people=People(world=world), seeds=planted)
