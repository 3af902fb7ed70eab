"""Panel: its sessions in browsers, the policies behind their cookies, and its pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from gateway.accounts.model import NAMED_AT_MOST, AccountSearch, Name, NamesRequest
from gateway.app.build_backoffice import (
    build_account_service,
    build_companies,
    build_stops,
    build_visible_account,
)
from gateway.app.build_identity import IdentityRoom
from gateway.app.kernel import Kernel
from gateway.companies.service import find_company
from gateway.core.access import Staff, StaffOf
from gateway.http.gates import PanelPolicies
from gateway.http.panel.pages.badges import Badges
from gateway.http.panel.pages.kept import LABEL, KeptForms
from gateway.http.panel.pages.kit import CHOICES, PageContext
from gateway.http.panel.pages.navigation import Navigation
from gateway.http.panel.pages.page import Page, holders
from gateway.http.panel.pages.represent import PageResponses
from gateway.http.panel.pages.surface import Frame, pages_surface
from gateway.http.panel.pages.templates import Templates
from gateway.http.panel.static import read_static
from gateway.http.route import Surface
from gateway.identity.cookies import (
    DEVICE_LABEL,
    PANEL_LABEL,
    DeviceCookies,
    PanelCookies,
)
from gateway.identity.model import UserStanding
from gateway.identity.pages import own_pages, people_pages
from gateway.identity.panel_context import PanelContext, PanelSettings
from gateway.identity.panel_representation import PanelResponses
from gateway.identity.panel_sessions import PanelSessionRecords
from gateway.identity.panel_surface import Panel
from gateway.identity.panel_tokens import PanelTokens
from gateway.identity.panel_view import PanelViews
from gateway.identity.service import People
from gateway.identity.sign_in_pages import pages as sign_in_pages
from gateway.identity.sign_in_pages import stepping_up
from gateway.payouts.service import PayoutRecords
from gateway.security.sealing import Sealer
from gateway.stops.model import Stop
from policies.authentication.session import (
    HARDENED,
    INSECURE,
    BrowserCookie,
    DeviceCookie,
    SessionCookie,
)


def build_panel(kernel: Kernel, identity: IdentityRoom) -> Panel:
    """Build the panel's sessions; nothing is started."""
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
    records = PanelSessionRecords(context, PanelTokens(context))
    device, sealing = DeviceCookie(form, devices.read), keys.keys(LABEL)
    static = read_static()
    return Panel(
        views=PanelViews(records),
        services=services,
        responses=PanelResponses(form, settings.environment, devices, settings.factor_roles),
        policies=PanelPolicies(
            users=identity.policies,
            browser=BrowserCookie(form, records.find),
            device=device,
            session=SessionCookie(form=form, find=records.find, authenticate=records.authenticate),
        ),
        kept=KeptForms(Sealer(sealing, next(iter(sealing))), device, kernel.now),
        static=static,
        templates=Templates(static.address),
    )


def _context(kernel: Kernel, people: People) -> PageContext:
    """Return what the pages of every noun share."""
    accounts, stops = build_account_service(kernel), build_stops(kernel)

    async def names(who: Staff, ids: Sequence[str]) -> Sequence[Name]:
        return await accounts.names(who, NamesRequest(list(ids[:NAMED_AT_MOST])))

    async def users(who: Staff) -> Sequence[UserStanding]:
        return (await people.page(who, CHOICES)).items

    async def in_force(who: Staff) -> Sequence[Stop]:
        return (await stops.page(who, CHOICES)).items

    return PageContext(
        staff=StaffOf(kernel.now, kernel.settings.factor_roles),
        find=build_visible_account(kernel).find,
        account=accounts.get,
        accounts=lambda who: accounts.page(who, AccountSearch(CHOICES)),
        banks=accounts.bank_numbers,
        names=names,
        people=users,
        stops=in_force,
    )


def build_pages(
    panel: Panel,
    kernel: Kernel,
    people: People,
    payouts: PayoutRecords,
    nouns: Callable[[PageContext], Sequence[Page]],
) -> Surface:
    """
    Build the surface of pages; nothing is loaded before somebody looks.

    ``nouns`` declares those of the nouns that are built elsewhere.
    """
    context = _context(kernel, people)
    pages = (
        *sign_in_pages(panel, context),
        *people_pages(people, build_companies(kernel), context),
        *own_pages(panel, context),
        *nouns(context),
    )
    badges = Badges(context.staff, payouts.open_work)
    frame = Frame(
        responses=PageResponses(
            templates=panel.templates,
            navigation=Navigation(pages),
            badges=badges,
            holders=holders(pages),
            environment=kernel.settings.environment,
            idle=panel.views.records.context.settings.idle,
            kept=panel.kept,
            origin=panel.policies.users.origin,
        ),
        badges=badges,
        policies=panel.policies,
        step_up=stepping_up(panel),
    )
    return pages_surface(frame, pages)
