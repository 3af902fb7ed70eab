"""The surfaces: routes and pages of every noun, in lists."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gateway.accounts import pages as account_pages
from gateway.accounts import routes as account_routes
from gateway.accounts.model import NAMED_AT_MOST, AccountSearch, Name, NamesRequest
from gateway.app.kernel import Kernel
from gateway.app.services import Services
from gateway.app.store import absent_store
from gateway.approvals import pages as approval_pages
from gateway.approvals import routes as approval_routes
from gateway.audit import pages as audit_pages
from gateway.audit import routes as audit_routes
from gateway.banks import pages as bank_pages
from gateway.banks import routes as bank_routes
from gateway.batches import pages as batch_pages
from gateway.batches import routes as batch_routes
from gateway.callbacks import pages as callback_pages
from gateway.callbacks import routes as callback_routes
from gateway.callbacks.surface import callback_surface
from gateway.charges import pages as charge_pages
from gateway.charges import routes as charge_routes
from gateway.closings import day_pages
from gateway.closings import pages as closing_pages
from gateway.closings import routes as closing_routes
from gateway.companies import pages as company_pages
from gateway.companies import routes as company_routes
from gateway.config.settings import Auth, Basic, Cache, Sealing, Settings
from gateway.config.values import Secret
from gateway.configuration import pages as configuration_pages
from gateway.configuration import routes as configuration_routes
from gateway.core.access import Staff, StaffOf
from gateway.core.windows import Paging
from gateway.credentials import pages as credential_pages
from gateway.credentials import routes as credential_routes
from gateway.credentials.model import CredentialSearch, CredentialState
from gateway.deliveries import pages as delivery_pages
from gateway.deliveries import routes as delivery_routes
from gateway.deliveries.model import DeliverySearch
from gateway.endpoints import pages as endpoint_pages
from gateway.endpoints import routes as endpoint_routes
from gateway.http.gates import staff_surface
from gateway.http.panel.pages.badges import Badges
from gateway.http.panel.pages.kit import CHOICES, Actor, PageContext
from gateway.http.panel.pages.navigation import Navigation
from gateway.http.panel.pages.page import Page, holders
from gateway.http.panel.pages.represent import PageResponses
from gateway.http.panel.pages.surface import Frame, pages_surface
from gateway.http.route import Surface
from gateway.http.routing import Routes
from gateway.identity import pages as identity_pages
from gateway.identity import routes as identity_routes
from gateway.identity import sign_in_pages
from gateway.identity.panel_surface import panel_surface, session_gate
from gateway.identity.surface import identity_surface, keys_surface
from gateway.mailbox import routes as mailbox_routes
from gateway.net.common.runtime import utc_now
from gateway.notifications import pages as notification_pages
from gateway.notifications import routes as chat_routes
from gateway.outflow import pages as outflow_pages
from gateway.outflow import routes as outflow_routes
from gateway.overview import pages as overview_pages
from gateway.overview import routes as overview_routes
from gateway.payouts import order_pages
from gateway.payouts import pages as payout_pages
from gateway.payouts import routes as payout_routes
from gateway.payouts.documents import sums_of
from gateway.payouts.order_pages import OrderServices
from gateway.pix_keys import pages as key_pages
from gateway.pix_keys import routes as key_routes
from gateway.reference import pages as reference_pages
from gateway.refunds import pages as refund_pages
from gateway.refunds import routes as refund_routes
from gateway.request_log import pages as request_pages
from gateway.request_log import routes as request_routes
from gateway.reviews import pages as review_pages
from gateway.reviews import routes as review_routes
from gateway.sandbox import pages as sandbox_pages
from gateway.sandbox import routes as sandbox_routes
from gateway.search import pages as search_pages
from gateway.search import routes as search_routes
from gateway.security.keys import load_keys
from gateway.single_sign_on import pages as sign_on_pages
from gateway.single_sign_on import routes as sign_on_routes
from gateway.single_sign_on.surface import sign_on_surface
from gateway.statements import pages as statement_pages
from gateway.statements import routes as statement_routes
from gateway.stops import pages as stop_pages
from gateway.stops import routes as stop_routes
from gateway.stops.model import Stop
from gateway.traces import pages as trace_pages
from gateway.traces import routes as trace_routes

_KEY_BYTES: Final = 32
_LATEST: Final = Paging(page=1, limit=10)
"""Deliveries that the page of an endpoint shows."""


def build_surfaces(services: Services) -> Sequence[Surface]:
    """Build the surfaces, banking first."""
    sandbox = services.sandbox_surface
    return (
        services.partners,
        services.events,
        *(() if sandbox is None else (sandbox,)),
        *user_surfaces(services),
        sign_on_surface(services.sign_on, services.user_policies.address_quota),
        callback_surface(services.reception),
    )


def user_surfaces(services: Services) -> Sequence[Surface]:
    """Build the surfaces of users: identity, its keys, back office; the panel's, if it is on."""
    kernel, identity, panel = services.kernel, services.identity, services.panel
    policies, environment = services.user_policies, kernel.settings.environment
    surfaces = (
        identity_surface(identity, session_gate(panel), policies, environment),
        keys_surface(identity.keyring.published, policies.address_quota),
        staff_surface(
            _routes(services), policies, services.visible_account, kernel.now, environment
        ),
    )
    if not kernel.settings.server.panel:
        return surfaces
    return (*surfaces, panel_surface(panel), _pages_surface(services))


def described_surfaces(settings: Settings) -> Sequence[Surface]:
    """
    Build the surfaces for description only: nothing is opened, read or written.

    The metrics need the route names before the process is built, and commands print them.
    """
    basic, sealing = (
        Secret(base64.urlsafe_b64encode(os.urandom(_KEY_BYTES)).decode()) for _ in range(2)
    )
    bare = replace(
        settings,
        providers={},  # no route depends on them, and they may be wrong
        cache=Cache(),
        auth=Auth(basic=Basic(pepper=basic)),
        sealing=Sealing(key=sealing),
    )
    store = absent_store(settings.store_url)
    kernel = Kernel(settings=bare, store=store, keys=load_keys(bare), now=utc_now)
    return build_surfaces(Services(kernel))


def _routes(services: Services) -> Sequence[Routes]:
    """Declare the routes of every noun in the back office."""
    mailbox, sandbox = services.mailbox, services.sandbox
    return [
        account_routes.routes(services.accounts, services.account_banks),
        approval_routes.routes(services.approvals, services.approved_secrets),
        credential_routes.routes(services.credentials, services.public_keys),
        company_routes.routes(services.companies),
        endpoint_routes.routes(services.endpoints),
        delivery_routes.routes(services.deliveries),
        chat_routes.routes(services.chats),
        identity_routes.routes(services.users),
        sign_on_routes.routes(services.identity_providers),
        stop_routes.routes(services.stops),
        outflow_routes.routes(services.outflows),
        closing_routes.routes(services.closing_packages),
        charge_routes.routes(services.charges),
        key_routes.routes(services.pix_keys),
        statement_routes.routes(services.statements),
        refund_routes.routes(services.refunds),
        audit_routes.routes(services.audit),
        callback_routes.routes(services.callbacks),
        request_routes.routes(services.requests),
        trace_routes.routes(services.traces),
        configuration_routes.routes(services.configuration),
        bank_routes.routes(services.bank_reports, services.readings),
        overview_routes.routes(services.overviews),
        *([mailbox_routes.routes(mailbox)] if mailbox is not None else []),
        payout_routes.routes(
            services.payout_records,
            services.payout_acts,
            services.hold_decisions,
            services.recipients,
        ),
        batch_routes.routes(services.batches),
        search_routes.routes(services.searches),
        review_routes.routes(services.reviews, services.unresolved_probes),
        *([sandbox_routes.routes(sandbox)] if sandbox is not None else []),
    ]


def _pages(services: Services, context: PageContext) -> Sequence[Page]:
    accounts, companies, credentials = services.accounts, services.companies, services.credentials
    banks, payouts, statements = services.bank_reports, services.payout_records, services.statements
    readings, keys, sandbox = services.readings, services.pix_keys, services.sandbox
    orders = OrderServices(
        keys=keys,
        acts=services.payout_acts,
        recipients=services.recipients,
        balance=statements.balance,
        readings=readings,
        banks=banks,
        waits=services.approvals.config.waits,
        waiting=services.approvals.waiting,
    )
    return [
        *sign_in_pages.pages(services.panel, context),
        *sign_on_pages.door_pages(services.panel, services.sign_on, context),
        *sign_on_pages.pages(
            services.identity_providers,
            services.sign_on,
            companies,
            services.sign_on.records.people_of,
            context,
        ),
        *identity_pages.people_pages(services.users, companies, context),
        *identity_pages.own_pages(services.panel, context),
        *notification_pages.pages(services.notifications, services.chats, companies, context),
        *payout_pages.pages(
            payouts,
            services.payout_acts,
            services.hold_decisions,
            banks,
            services.deliveries.of_reference,
            context,
        ),
        *order_pages.pages(orders, context),
        *batch_pages.pages(services.batches, banks, context),
        *search_pages.pages(services.searches, services.bank_searches, services.traces, context),
        *review_pages.pages(services.reviews, services.unresolved_probes, payouts, context),
        *account_pages.pages(
            accounts,
            services.account_banks,
            companies,
            statements.balance,
            banks,
            readings,
            context,
        ),
        *company_pages.pages(
            companies,
            lambda who, company: accounts.page(who, AccountSearch(CHOICES, company)),
            lambda who, company: credentials.page(
                who,
                CredentialSearch(paging=CHOICES, company_id=company, state=CredentialState.LIVE),
            ),
            context,
        ),
        *endpoint_pages.pages(
            services.endpoints,
            companies,
            lambda who, company: accounts.page(who, AccountSearch(CHOICES, company)),
            context,
            lambda who, endpoint: services.deliveries.page(
                who, DeliverySearch(paging=_LATEST, endpoint_id=endpoint)
            ),
        ),
        *delivery_pages.pages(services.deliveries, services.endpoints, context),
        *credential_pages.pages(credentials, services.public_keys, services.audit, context),
        *approval_pages.pages(services.approvals, services.approved_secrets, context),
        *stop_pages.pages(services.stops, companies, credentials, banks, context),
        *outflow_pages.pages(services.outflows, context),
        *charge_pages.pages(services.charges, keys, context),
        *key_pages.pages(keys, context),
        *statement_pages.pages(statements, readings, context),
        *closing_pages.pages(services.closings, services.foreign_debits, context),
        *day_pages.pages(services.closing_days, services.closing_packages, context),
        *refund_pages.pages(services.refunds, context),
        *overview_pages.pages(
            services.overviews, payouts, banks, readings, services.requests, context
        ),
        *request_pages.pages(services.requests, context),
        *trace_pages.pages(services.traces, context),
        *bank_pages.pages(
            banks,
            payouts.hit,
            sums_of,
            lambda who, bank: accounts.page(who, AccountSearch(CHOICES, provider=bank)),
            context,
        ),
        *callback_pages.pages(services.callbacks, context),
        *audit_pages.pages(services.audit, context),
        *configuration_pages.pages(services.configuration, context),
        *reference_pages.pages(
            services.reference, context, is_open=services.kernel.settings.server.openapi
        ),
        *(sandbox_pages.pages(sandbox, context) if sandbox is not None else ()),
    ]


def _context(services: Services) -> PageContext:
    accounts = services.accounts

    async def names(who: Staff, ids: Sequence[str]) -> Sequence[Name]:
        return await accounts.names(who, NamesRequest(list(ids[:NAMED_AT_MOST])))

    async def people(who: Staff) -> Sequence[Actor]:
        return await services.users.names(who, CHOICES)

    async def in_force(who: Staff) -> Sequence[Stop]:
        return (await services.stops.page(who, CHOICES)).items

    return PageContext(
        staff=StaffOf(services.kernel.now, services.kernel.settings.factor_roles),
        find=services.visible_account.find,
        account=accounts.get,
        accounts=lambda who: accounts.page(who, AccountSearch(CHOICES)),
        banks=accounts.bank_numbers,
        names=names,
        people=people,
        stops=in_force,
    )


def _pages_surface(services: Services) -> Surface:
    """Build the surface of pages; templates are loaded on first use."""
    panel, context = services.panel, _context(services)
    pages = _pages(services, context)
    badges = Badges(context.staff, services.payout_records.open_work)
    frame = Frame(
        responses=PageResponses(
            templates=panel.templates,
            navigation=Navigation(pages),
            badges=badges,
            holders=holders(pages),
            environment=services.kernel.settings.environment,
            idle=panel.sessions.settings.idle,
            kept=panel.kept,
            origin=panel.policies.users.origin,
            reports=services.kernel.settings.server.policy_reports,
        ),
        badges=badges,
        policies=panel.policies,
        step_up=sign_in_pages.stepping_up(panel),
    )
    return pages_surface(frame, pages)
