"""Panel: its sessions in browsers, and the policies behind their cookies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from gateway.app.build_identity import IdentityRoom
from gateway.http.panel.represent import PanelResponses
from gateway.http.panel.routes import PanelSessionActions
from gateway.http.panel.surface import PanelPolicies
from gateway.operations.panel.context import PanelContext, PanelSettings
from gateway.operations.panel.sessions import PanelSessionRecords
from gateway.operations.panel.token_refresh import PanelTokens
from gateway.operations.panel.view import PanelViews
from gateway.runtime.kernel import Kernel
from gateway.security.identity.cookies import (
    DEVICE_LABEL,
    PANEL_LABEL,
    DeviceCookies,
    PanelCookies,
)
from policies.authentication.session import (
    HARDENED,
    INSECURE,
    BrowserCookie,
    DeviceCookie,
    SessionCookie,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelRoom:
    """
    The panel's sessions; ``tokens`` is closed in the end.

    Attributes:
        actions: What the rows run.
        responses: How sessions and their cookies are answered.
    """

    context: PanelContext
    records: PanelSessionRecords
    views: PanelViews
    tokens: PanelTokens
    actions: PanelSessionActions
    responses: PanelResponses
    policies: PanelPolicies


def build_panel(kernel: Kernel, identity: IdentityRoom) -> PanelRoom:
    """Build the room; nothing is started."""
    settings, keys = kernel.settings, kernel.keys.derivation
    form = INSECURE if settings.session.insecure_dev else HARDENED
    devices = DeviceCookies(list(keys.keys(DEVICE_LABEL).values()), kernel.now)
    context = _context(kernel, identity)
    tokens = PanelTokens(context)
    records = PanelSessionRecords(context, tokens)
    views = PanelViews(records)
    return PanelRoom(
        context=context,
        records=records,
        views=views,
        tokens=tokens,
        actions=PanelSessionActions(records=records, views=views, services=identity.services),
        responses=PanelResponses(form, settings.environment, devices, settings.factor_roles),
        policies=PanelPolicies(
            users=identity.policies,
            browser=BrowserCookie(form, records.find),
            device=DeviceCookie(form, devices.read),
            session=SessionCookie(form=form, find=records.find, authenticate=records.authenticate),
        ),
    )


def _context(kernel: Kernel, identity: IdentityRoom) -> PanelContext:
    """Say what the panel's sessions work with."""
    session, services = kernel.settings.session, identity.services
    return PanelContext(
        store=kernel.store.identity.panels,
        companies=kernel.store.companies,
        cookies=PanelCookies(list(kernel.keys.derivation.keys(PANEL_LABEL).values())),
        identity=identity.context,
        sign_in=services.sign_in,
        tokens=services.tokens,
        sessions=services.sessions,
        settings=PanelSettings(
            idle=timedelta(seconds=session.idle_s), renewal=timedelta(seconds=session.renew_s)
        ),
    )
