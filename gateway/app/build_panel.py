"""Panel: its sessions in browsers, the policies behind their cookies, and its pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from gateway.app.build_backoffice import build_companies, build_stops, build_visible_account
from gateway.app.build_identity import IdentityRoom
from gateway.companies.pages import pages as company_pages
from gateway.companies.service import find_company
from gateway.core.access import StaffOf
from gateway.domain.accounts.accounts import Environment
from gateway.http.panel.pages.badges import Badges
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.kit import PageContext
from gateway.http.panel.pages.navigation import Navigation
from gateway.http.panel.pages.page import holders
from gateway.http.panel.pages.represent import PageResponses
from gateway.http.panel.pages.surface import Frame, pages_surface
from gateway.http.panel.pages.templates import Templates
from gateway.http.panel.represent import PanelResponses
from gateway.http.panel.routes import PanelSessionActions
from gateway.http.panel.screens.recovery import recovery_pages
from gateway.http.panel.screens.screens import member_pages
from gateway.http.panel.screens.service.reference import Reference, reference_pages, trying_pages
from gateway.http.panel.screens.session import SessionPages, session_pages
from gateway.http.panel.static import StaticFiles, read_static
from gateway.http.panel.surface import PanelPolicies
from gateway.http.route import Surface
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
from gateway.stops.pages import pages as stop_pages
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
        static: Styles, scripts, fonts and icons of the pages.
    """

    context: PanelContext
    records: PanelSessionRecords
    views: PanelViews
    tokens: PanelTokens
    actions: PanelSessionActions
    responses: PanelResponses
    policies: PanelPolicies
    static: StaticFiles


def build_panel(kernel: Kernel, identity: IdentityRoom) -> PanelRoom:
    """Build the room; nothing is started."""
    settings, keys = kernel.settings, kernel.keys.derivation
    form = INSECURE if settings.session.insecure_dev else HARDENED
    devices = DeviceCookies(list(keys.keys(DEVICE_LABEL).values()), kernel.now)
    session, services = settings.session, identity.services
    context = PanelContext(
        store=kernel.store.identity.panels,
        find_company=partial(find_company, kernel.store.database),
        cookies=PanelCookies(list(keys.keys(PANEL_LABEL).values())),
        identity=identity.context,
        sign_in=services.sign_in,
        tokens=services.tokens,
        sessions=services.sessions,
        settings=PanelSettings(
            idle=timedelta(seconds=session.idle_s), renewal=timedelta(seconds=session.renew_s)
        ),
    )
    tokens = PanelTokens(context)
    records = PanelSessionRecords(context, tokens)
    views = PanelViews(records)
    return PanelRoom(
        context=context,
        records=records,
        views=views,
        tokens=tokens,
        actions=PanelSessionActions(records=records, views=views, services=services),
        responses=PanelResponses(form, settings.environment, devices, settings.factor_roles),
        policies=PanelPolicies(
            users=identity.policies,
            browser=BrowserCookie(form, records.find),
            device=DeviceCookie(form, devices.read),
            session=SessionCookie(form=form, find=records.find, authenticate=records.authenticate),
        ),
        static=read_static(),
    )


def build_pages(
    room: PanelRoom,
    kernel: Kernel,
    backoffice: Surface,
    own: Surface,
    partners: Surface,
) -> Surface:
    """
    Build the surface of pages; nothing is loaded before somebody looks.

    Pages call the rows of ``backoffice``, and of one's ``own`` account; ``partners`` is shown
    as a reference.
    """
    rows, environment = RowCalls((backoffice, own), kernel.now), kernel.settings.environment
    context = PageContext(
        staff=StaffOf(kernel.now, kernel.settings.factor_roles),
        find=build_visible_account(kernel).find,
        rows=rows,
    )
    session = SessionPages(rows, room.actions, room.responses.form)
    pages = (
        *session_pages(session),
        *recovery_pages(rows, session),
        *member_pages(rows),
        *company_pages(build_companies(kernel), context),
        *stop_pages(build_stops(kernel), context),
        *reference_pages(Reference(partners)),
        *(trying_pages() if environment is Environment.SANDBOX else ()),
    )
    badges = Badges(rows)
    frame = Frame(
        responses=PageResponses(
            templates=Templates(room.static.address),
            navigation=Navigation(pages),
            badges=badges,
            holders=holders(pages),
            environment=environment,
            idle=room.context.settings.idle,
        ),
        badges=badges,
        policies=room.policies,
        step_up=session.step_up,
    )
    return pages_surface(frame, pages)
