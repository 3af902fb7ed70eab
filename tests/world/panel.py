"""A browser at the panel, below HTTP: its sessions over a real store, on a stopped clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.app.services import Services
from gateway.core.browsers import Browser
from gateway.identity.panel_sessions import PanelSessions
from tests.world.identity import EMAIL, HOME, PASSWORD, IdentityWorld


@dataclass(slots=True, kw_only=True)
class PanelWorld:
    """
    The panel's sessions over identity.

    Attributes:
        counted: What was counted, a word and its label each.
    """

    identity_world: IdentityWorld
    sessions: PanelSessions
    counted: list[tuple[str, str]] = field(default_factory=list)

    async def signed_in_browser(self, email: str = EMAIL) -> Browser:
        """Sign a browser in, with a code where one is asked for."""
        view = await self.sessions.login(self.sessions.begin(), email, PASSWORD, HOME)
        if view.is_pending:
            code = self.identity_world.code(email)
            view = await self.sessions.submit_code(view.browser, code, HOME)
        return view.browser

    async def again(self, browser: Browser) -> Browser:
        found = await self.sessions.find(browser.cookie.value)
        assert found is not None
        return found


def panel_world_on(identity_world: IdentityWorld) -> PanelWorld:
    """Build the panel's sessions; close them in the end."""
    services = Services(identity_world.kernel, identity=identity_world.services)
    return PanelWorld(
        identity_world=identity_world,
        sessions=services.panel.sessions,
        counted=identity_world.counted,
    )
