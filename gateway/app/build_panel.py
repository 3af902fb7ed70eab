"""The panel's sessions assembled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from gateway.app.build_identity import People
from gateway.config.identity import Session
from gateway.operations.panel.context import PanelContext, PanelSettings
from gateway.operations.panel.sessions import PanelSessionRecords
from gateway.operations.panel.token_refresh import PanelTokens
from gateway.operations.panel.view import PanelViews
from gateway.security.identity import cookies
from gateway.security.identity.cookies import PANEL_LABEL, DeviceCookies, PanelCookies
from gateway.security.keys import Keys
from gateway.store.engine import Store


@dataclass(frozen=True, slots=True)
class Panel:
    """
    The panel's sessions; ``tokens`` is closed in the end.

    Attributes:
        devices: Tells browsers again in which somebody has signed in.
    """

    records: PanelSessionRecords
    views: PanelViews
    tokens: PanelTokens
    devices: DeviceCookies


def build_panel(session: Session, store: Store, keys: Keys, people: People) -> Panel:
    """Make the panel's sessions; nothing is started."""
    parts = PanelContext(
        store=store.identity.panels,
        companies=store.companies,
        cookies=PanelCookies(list(keys.derivation.keys(PANEL_LABEL).values())),
        identity=people.parts,
        sign_in=people.services.sign_in,
        tokens=people.services.tokens,
        sessions=people.services.sessions,
        settings=PanelSettings(
            idle=timedelta(seconds=session.idle_s), renewal=timedelta(seconds=session.renew_s)
        ),
    )
    tokens = PanelTokens(parts)
    records = PanelSessionRecords(parts, tokens)
    devices = DeviceCookies(
        list(keys.derivation.keys(cookies.DEVICE_LABEL).values()), people.parts.now
    )
    return Panel(records, PanelViews(records), tokens, devices)
