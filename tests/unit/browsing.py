"""A browser at the panel, below HTTP: its sessions over a real store, on a clock that stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.domain.identity.browsers import Browser
from gateway.operations.panel.context import PanelContext, PanelSettings
from gateway.operations.panel.sessions import PanelSessionRecords
from gateway.operations.panel.token_refresh import PanelTokens
from gateway.operations.panel.view import PanelViews
from gateway.security.identity.panel_cookies import PanelCookies
from tests.unit.door import EMAIL, HOME, PASSWORD, Door


@dataclass(slots=True, kw_only=True)
class Hall:
    """
    The panel behind a door.

    Attributes:
        counted: What was counted, a word and its label each.
    """

    door: Door
    context: PanelContext
    tokens: PanelTokens
    records: PanelSessionRecords
    views: PanelViews
    counted: list[tuple[str, str]] = field(default_factory=list)

    async def seated(self, email: str = EMAIL) -> Browser:
        """Sign a browser in, with a code where one is asked for."""
        browser = await self.records.begin(HOME)
        browser = await self.records.login(browser, email, PASSWORD, HOME)
        if browser.panel.state != "full":
            browser = await self.records.submit_code(browser, self.door.code(email), HOME)
        return browser

    async def again(self, browser: Browser) -> Browser:
        """Come back with the same cookie."""
        found = await self.records.find(browser.cookie.value)
        assert found is not None
        return found


def hall_of(door: Door) -> Hall:
    """Open the panel behind a door; its tokens are closed in the end."""
    context = PanelContext(
        store=door.store.identity.panels,
        companies=door.store.companies,
        cookies=PanelCookies([b"s" * 32]),
        identity=door.context,
        sign_in=door.services.sign_in,
        tokens=door.services.tokens,
        sessions=door.services.sessions,
        settings=PanelSettings(),
    )
    tokens = PanelTokens(context)
    records = PanelSessionRecords(context, tokens)
    return Hall(
        door=door,
        context=context,
        tokens=tokens,
        records=records,
        views=PanelViews(records),
        counted=door.counted,
    )
