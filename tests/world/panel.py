"""A browser at the panel, below HTTP: its sessions over a real store, on a clock that stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.app.build_identity import build_panel
from gateway.core.browsers import Browser
from gateway.identity.panel_context import PanelContext
from gateway.identity.panel_sessions import PanelSessionRecords
from gateway.identity.panel_tokens import PanelTokens
from gateway.identity.panel_view import PanelViews
from tests.world.identity import EMAIL, HOME, PASSWORD, IdentityWorld


@dataclass(slots=True, kw_only=True)
class PanelWorld:
    """
    The panel's sessions over identity.

    Attributes:
        counted: What was counted, a word and its label each.
    """

    identity_world: IdentityWorld
    context: PanelContext
    tokens: PanelTokens
    records: PanelSessionRecords
    views: PanelViews
    counted: list[tuple[str, str]] = field(default_factory=list)

    async def signed_in_browser(self, email: str = EMAIL) -> Browser:
        """Sign a browser in, with a code where one is asked for."""
        browser = self.records.begin()
        browser = await self.records.login(browser, email, PASSWORD, HOME)
        if browser.panel.state != "full":
            browser = await self.records.submit_code(browser, self.identity_world.code(email), HOME)
        return browser

    async def again(self, browser: Browser) -> Browser:
        """Come back with the same cookie."""
        found = await self.records.find(browser.cookie.value)
        assert found is not None
        return found


def panel_world_on(identity_world: IdentityWorld) -> PanelWorld:
    """Build the panel's sessions; close its tokens in the end."""
    panel = build_panel(identity_world.kernel, identity_world.room)
    return PanelWorld(
        identity_world=identity_world,
        context=panel.views.records.context,
        tokens=panel.views.records.tokens,
        records=panel.views.records,
        views=panel.views,
        counted=identity_world.counted,
    )
