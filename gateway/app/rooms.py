"""Every room of a process, in order, and the surfaces in front of them."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gateway.accounts.model import AccountSearch
from gateway.accounts.pages import pages as account_pages
from gateway.accounts.routes import routes as account_routes
from gateway.app.backoffice_operations import BackOfficeOperations
from gateway.app.build_accounts import AccountsRoom, build_accounts
from gateway.app.build_backoffice import (
    build_account_service,
    build_backoffice,
    build_companies,
    build_people,
    build_stops,
    build_visible_account,
)
from gateway.app.build_bank import BankRoom, build_bank
from gateway.app.build_callbacks import build_callbacks
from gateway.app.build_identity import IdentityRoom, build_identity
from gateway.app.build_oversight import Oversight, build_bank_reports, build_oversight
from gateway.app.build_panel import build_pages, build_panel
from gateway.app.build_payouts import (
    StaffPayouts,
    build_payout_records,
    build_payouts,
    build_searches,
    build_staff_payouts,
)
from gateway.app.kernel import Kernel
from gateway.app.store import absent_store
from gateway.approvals.pages import pages as approval_pages
from gateway.approvals.routes import routes as approval_routes
from gateway.banks.health import ConnectedBanks, Connection
from gateway.banks.model import Provider, ProviderMinute
from gateway.banks.paces import Pace
from gateway.callbacks.reception import Reception
from gateway.callbacks.surface import callback_surface
from gateway.charges.pages import pages as charge_pages
from gateway.charges.routes import partner_routes as charge_partner_routes
from gateway.charges.routes import routes as charge_routes
from gateway.closings.foreign_debits import ForeignDebits
from gateway.closings.pages import pages as closing_pages
from gateway.closings.service import Closings
from gateway.companies.pages import pages as company_pages
from gateway.companies.routes import routes as company_routes
from gateway.config.settings import Auth, Basic, Cache, Sealing, Settings
from gateway.config.values import Secret
from gateway.credentials.model import CredentialSearch, CredentialState
from gateway.credentials.pages import pages as credential_pages
from gateway.credentials.routes import routes as credential_routes
from gateway.http.gates import partner_surface, staff_surface
from gateway.http.panel.pages.kit import CHOICES, PageContext
from gateway.http.panel.pages.page import Page
from gateway.http.route import Surface
from gateway.http.routing import Routes
from gateway.identity.panel_surface import Panel, panel_surface, session_gate
from gateway.identity.routes import routes as identity_routes
from gateway.identity.service import People
from gateway.identity.surface import identity_surface, keys_surface
from gateway.net.common.runtime import utc_now
from gateway.payouts.create import Payouts
from gateway.payouts.order_pages import OrderServices
from gateway.payouts.order_pages import pages as order_pages
from gateway.payouts.pages import pages as payout_pages
from gateway.payouts.routes import partner_routes as payout_partner_routes
from gateway.payouts.routes import routes as payout_routes
from gateway.pix_keys.pages import pages as key_pages
from gateway.pix_keys.routes import partner_routes as key_partner_routes
from gateway.pix_keys.routes import routes as key_routes
from gateway.process.cache import MemoryCache, build_cache
from gateway.refunds.pages import pages as refund_pages
from gateway.refunds.routes import routes as refund_routes
from gateway.request_log.store import RequestRecords
from gateway.request_log.writer import RequestLogWriter
from gateway.reviews.pages import pages as review_pages
from gateway.reviews.routes import routes as review_routes
from gateway.sandbox.pages import pages as sandbox_pages
from gateway.sandbox.routes import routes as sandbox_routes
from gateway.search.pages import pages as search_pages
from gateway.search.routes import routes as search_routes
from gateway.search.service import BankSearches
from gateway.security.keys import load_keys
from gateway.statements.pages import pages as statement_pages
from gateway.statements.routes import partner_routes as statement_partner_routes
from gateway.statements.routes import routes as statement_routes
from gateway.stops.pages import pages as stop_pages
from gateway.stops.routes import routes as stop_routes

if TYPE_CHECKING:  # an extra
    from gateway.process.shared import SharedCache

_KEY_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """
    The rooms; each is built on those before it.

    Attributes:
        lines: Keeps the request log of this process.
        paces: How fast a provider's unsettled payouts are followed up, by its name.
    """

    kernel: Kernel
    identity: IdentityRoom
    accounts: AccountsRoom
    cache: MemoryCache | SharedCache
    bank: BankRoom
    payouts: Payouts
    backoffice: BackOfficeOperations
    staff_payouts: StaffPayouts
    panel: Panel
    lines: RequestLogWriter
    callbacks: Reception
    paces: Callable[[str], Pace]


def build_rooms(
    kernel: Kernel,
    identity: IdentityRoom,
    connections: Mapping[str, Connection],
    wake: Callable[[], None],
    cache: MemoryCache | SharedCache | None = None,
) -> Rooms:
    """
    Build the other rooms on kernel and identity; nothing is started.

    ``connections`` are the banks by their provider's name; ``wake`` is called when a
    callback has come; ``cache`` is the one that the banks' adapters have.
    """
    accounts = build_accounts(kernel, identity.keyring)
    banks = ConnectedBanks(connections, kernel.keys.sealer.open)
    cache = cache or build_cache(kernel.settings, kernel.keys.derivation, kernel.observer.count)
    bank = build_bank(kernel, banks, accounts.kept.stops_in_force, cache)
    payouts = build_payouts(kernel, banks, accounts.kept.stops_in_force)
    # what "not found" proves at each bank, as its adapter declares it
    absences = {name: each.adapter.capabilities.absent_after for name, each in connections.items()}
    records = build_payout_records(kernel, absences, bank.statements.turns)
    backoffice = build_backoffice(kernel, bank, payouts, identity, records)
    return Rooms(
        kernel=kernel,
        identity=identity,
        accounts=accounts,
        cache=cache,
        bank=bank,
        payouts=payouts,
        backoffice=backoffice,
        staff_payouts=build_staff_payouts(
            kernel, bank.pix_keys.owners, payouts, backoffice.approvals.order, records
        ),
        panel=build_panel(kernel, identity),
        lines=RequestLogWriter(RequestRecords(kernel.store.database).add, kernel.observer.count),
        callbacks=build_callbacks(kernel, connections, wake),
        paces=banks.pace_of,
    )


def build_surfaces(
    rooms: Rooms,
    providers: Callable[[], Sequence[Provider]],
    unwritten: Callable[[], Sequence[ProviderMinute]] = tuple,
) -> Sequence[Surface]:
    """
    Build the surfaces, banking first.

    Args:
        rooms: What they serve.
        providers: Returns what is known of each bank.
        unwritten: Returns how calls of banks went that are in no record yet.
    """
    users = user_surfaces(rooms, providers, unwritten)
    return (_banking(rooms), *users, callback_surface(rooms.callbacks))


def user_surfaces(
    rooms: Rooms,
    providers: Callable[[], Sequence[Provider]],
    unwritten: Callable[[], Sequence[ProviderMinute]] = tuple,
) -> Sequence[Surface]:
    """Build the surfaces of users: identity, its keys, back office; the panel's, if it is on."""
    kernel, identity, panel = rooms.kernel, rooms.identity, rooms.panel
    policies, environment = identity.policies, kernel.settings.environment
    people = build_people(kernel, identity, rooms.backoffice.users)
    reports = build_bank_reports(kernel, providers, unwritten)
    oversight = build_oversight(
        kernel, rooms.backoffice, _banking(rooms), reports, lines=rooms.lines
    )
    backoffice = staff_surface(
        _routes(rooms, people, oversight),
        policies,
        build_visible_account(kernel),
        kernel.now,
        environment,
    )
    session = session_gate(panel)
    surfaces = (
        identity_surface(identity.services, session, policies, environment),
        keys_surface(identity.keyring.published, policies.address_quota),
        backoffice,
    )
    if not kernel.settings.server.panel:
        return surfaces
    own, nouns = panel_surface(panel), partial(_pages, rooms, oversight)
    pages = build_pages(panel, kernel, people, rooms.staff_payouts.records, nouns)
    return (*surfaces, own, pages)


def _routes(rooms: Rooms, people: People, oversight: Oversight) -> Sequence[Routes]:
    """Declare the routes of every noun in the back office."""
    bank, does = rooms.bank, rooms.backoffice
    return [
        account_routes(build_account_service(rooms.kernel), does.banks),
        approval_routes(does.approvals, does.secrets),
        credential_routes(does.credentials),
        company_routes(build_companies(rooms.kernel)),
        identity_routes(people),
        stop_routes(build_stops(rooms.kernel)),
        charge_routes(bank.charges),
        key_routes(bank.pix_keys),
        statement_routes(bank.statements),
        refund_routes(does.refunds),
        *oversight.routes,
        payout_routes(rooms.staff_payouts.records, rooms.staff_payouts.acts),
        search_routes(build_searches(rooms.kernel)),
        review_routes(rooms.staff_payouts.reviews, rooms.staff_payouts.probes),
        *([sandbox_routes(does.sandbox)] if does.sandbox is not None else []),
    ]


def _pages(rooms: Rooms, oversight: Oversight, context: PageContext) -> Sequence[Page]:
    """Declare the pages of every noun."""
    bank, does, companies = rooms.bank, rooms.backoffice, build_companies(rooms.kernel)
    accounts, paid = build_account_service(rooms.kernel), rooms.staff_payouts
    return [
        *payout_pages(paid.records, paid.acts, oversight.banks, context),
        *order_pages(
            OrderServices(
                keys=bank.pix_keys,
                acts=paid.acts,
                balance=bank.statements.balance,
                readings=bank.statements.readings,
                banks=oversight.banks,
                waits=does.approvals.terms.waits,
                waiting=does.approvals.waiting,
            ),
            context,
        ),
        *search_pages(
            build_searches(rooms.kernel),
            BankSearches(database=rooms.kernel.store.database, refunds=does.refunds),
            oversight.traces,
            context,
        ),
        *review_pages(paid.reviews, paid.probes, paid.records, context),
        *account_pages(
            accounts,
            does.banks,
            companies,
            bank.statements.balance,
            oversight.banks,
            does.readings,
            context,
        ),
        *company_pages(
            companies,
            lambda who, company: accounts.page(who, AccountSearch(CHOICES, company)),
            lambda who, company: does.credentials.page(
                who,
                CredentialSearch(paging=CHOICES, company_id=company, state=CredentialState.LIVE),
            ),
            context,
        ),
        *credential_pages(does.credentials, oversight.audit, context),
        *approval_pages(does.approvals, does.secrets, context),
        *stop_pages(
            build_stops(rooms.kernel), companies, does.credentials, oversight.banks, context
        ),
        *charge_pages(bank.charges, bank.pix_keys, context),
        *key_pages(bank.pix_keys, context),
        *statement_pages(bank.statements, does.readings, context),
        *closing_pages(
            Closings(database=rooms.kernel.store.database, statements=bank.statements),
            ForeignDebits(rooms.kernel.store.database),
            context,
        ),
        *refund_pages(does.refunds, context),
        *oversight.pages(paid.records, context),
        *(sandbox_pages(does.sandbox, context) if does.sandbox is not None else ()),
    ]


def described_surfaces(settings: Settings) -> Sequence[Surface]:
    """
    Build the surfaces to be looked at, not served: nothing is opened, read or written.

    The metrics need the rows' names before the process is built, and commands print them.
    """
    basic, sealing = (
        Secret(base64.urlsafe_b64encode(os.urandom(_KEY_BYTES)).decode()) for _ in range(2)
    )
    bare = replace(
        settings,
        providers={},  # no row depends on them, and they may be wrong
        cache=Cache(),
        auth=Auth(basic=Basic(pepper=basic)),
        sealing=Sealing(key=sealing),
    )
    store = absent_store(settings.store_url)
    kernel = Kernel(settings=bare, store=store, keys=load_keys(bare), now=utc_now)
    return build_surfaces(build_rooms(kernel, build_identity(kernel), {}, lambda: None), tuple)


def _banking(rooms: Rooms) -> Surface:
    """Build the partners' surface."""
    settings, accounts = rooms.kernel.settings, rooms.accounts
    return partner_surface(
        [
            statement_partner_routes(rooms.bank.statements.reads, accounts.quota),
            key_partner_routes(rooms.bank.banks),
            charge_partner_routes(rooms.bank.charges.reads),
            payout_partner_routes(rooms.payouts),
        ],
        accounts.credentials,
        accounts.quota,
        accounts.scope,
        settings.environment,
    )
