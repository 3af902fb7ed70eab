"""What operators watch: overview, banks, audit log, request log, callbacks, traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from gateway.accounts.model import AccountSearch
from gateway.app.backoffice_operations import BackOfficeOperations
from gateway.app.build_backoffice import build_account_service
from gateway.app.kernel import Kernel
from gateway.audit import pages as audit_pages
from gateway.audit import routes as audit_routes
from gateway.audit.service import AuditLog
from gateway.banks import pages as bank_pages
from gateway.banks import routes as bank_routes
from gateway.banks.model import Provider, ProviderMinute
from gateway.banks.service import BankReports
from gateway.banks.store import ProviderMinutes
from gateway.callbacks import pages as callback_pages
from gateway.callbacks import routes as callback_routes
from gateway.callbacks.service import Callbacks
from gateway.callbacks.store import CallbackRecords
from gateway.configuration import pages as configuration_pages
from gateway.configuration import routes as configuration_routes
from gateway.configuration.service import Configuration
from gateway.core.account import Environment
from gateway.http.panel.pages.kit import CHOICES, PageContext
from gateway.http.panel.pages.page import Page
from gateway.http.route import Surface
from gateway.http.routing import Routes
from gateway.identity.sealed_mail import SealedOutbox
from gateway.outbox import routes as outbox_routes
from gateway.outbox.service import Outbox
from gateway.overview import pages as overview_pages
from gateway.overview import routes as overview_routes
from gateway.overview.service import Overviews
from gateway.overview.store import OverviewRecords
from gateway.payouts.documents import sums_of
from gateway.payouts.service import PayoutRecords
from gateway.reference import pages as reference_pages
from gateway.request_log import pages as request_pages
from gateway.request_log import routes as request_routes
from gateway.request_log.service import RequestLog
from gateway.request_log.store import RequestRecords
from gateway.request_log.writer import RequestLogWriter
from gateway.store.schema import REVISIONS, revision_of
from gateway.traces import pages as trace_pages
from gateway.traces import routes as trace_routes
from gateway.traces.records import TracedRecords
from gateway.traces.service import Traces

Known = Callable[[], Sequence[Provider]]


@dataclass(frozen=True, slots=True)
class Oversight:
    """
    Routes and pages of the nouns.

    Attributes:
        pages: Makes them of the payouts that the overview shows, and of what all pages share.
        audit, banks, traces: What pages of other nouns call too.
    """

    routes: Sequence[Routes]
    pages: Callable[[PayoutRecords, PageContext], Sequence[Page]]
    audit: AuditLog
    banks: BankReports
    traces: Traces


def build_oversight(
    kernel: Kernel,
    office: BackOfficeOperations,
    partners: Surface,
    banks: BankReports,
    *,
    lines: RequestLogWriter,
) -> Oversight:
    """
    Build the services behind the routes and pages.

    ``partners`` is the surface that traces explain and the reference shows; ``lines`` has what
    is not stored yet.
    """
    store, settings = kernel.store, kernel.settings
    records = RequestRecords(store.database)
    mail = SealedOutbox(store.identity.outbox, kernel.keys.sealer)
    is_sandbox = settings.environment is Environment.SANDBOX  # mail is shown there alone
    audit = AuditLog(database=store.database, chain=store.audit)
    callbacks = Callbacks(CallbackRecords(store.database))
    configuration = _configuration(kernel)
    overviews = build_overviews(kernel, banks.known)
    requests = RequestLog(records, office.turns)
    traces = _traces(kernel, lines, partners)
    reference, accounts = reference_pages.Reference(partners), build_account_service(kernel)

    def pages(payouts: PayoutRecords, context: PageContext) -> Sequence[Page]:
        return (
            *overview_pages.pages(overviews, payouts, banks, office.readings, requests, context),
            *request_pages.pages(requests, context),
            *trace_pages.pages(traces, context),
            *bank_pages.pages(
                banks,
                payouts.hit,
                sums_of,
                lambda who, bank: accounts.page(who, AccountSearch(CHOICES, provider=bank)),
                context,
            ),
            *callback_pages.pages(callbacks, context),
            *audit_pages.pages(audit, context),
            *configuration_pages.pages(configuration, context),
            *reference_pages.pages(reference, context, is_open=settings.server.openapi),
        )

    routes = (
        audit_routes.routes(audit),
        callback_routes.routes(callbacks),
        request_routes.routes(requests),
        trace_routes.routes(traces),
        configuration_routes.routes(configuration),
        bank_routes.routes(banks, office.readings),
        overview_routes.routes(overviews),
        *((outbox_routes.routes(Outbox(mail)),) if is_sandbox else ()),
    )
    return Oversight(routes, pages, audit, banks, traces)


def build_bank_reports(
    kernel: Kernel, known: Known, unwritten: Callable[[], Sequence[ProviderMinute]]
) -> BankReports:
    """Build what tells how banks are; ``known`` is what this process knows of each."""
    return BankReports(
        minutes=ProviderMinutes(kernel.store.database),
        unwritten=unwritten,
        names=frozenset(kernel.settings.providers),
        known=known,
        now=kernel.now,
    )


def build_overviews(kernel: Kernel, known: Known = tuple) -> Overviews:
    """Build what counts payouts by hour."""
    # a bank whose callbacks have a secret of their own is to send them
    providers = kernel.settings.providers
    telling = frozenset(name for name, each in providers.items() if each.callbacks.secret)
    records = OverviewRecords(kernel.store.database)
    return Overviews(records=records, telling=telling, known=known, now=kernel.now)


def _configuration(kernel: Kernel) -> Configuration:
    """Build what tells how this process is configured."""
    configuration = Configuration(
        version=version("pixgate"),
        settings=kernel.settings,
        revision=partial(revision_of, kernel.store.database),
        revisions=REVISIONS,
    )
    kernel.reloads.append(configuration.take)
    return configuration


def _traces(kernel: Kernel, lines: RequestLogWriter, partners: Surface) -> Traces:
    """Build the reader of traces; ``partners`` has the permission that each route needs."""
    rows = [row for gate in partners.gates for row in gate.rows]
    return Traces(
        database=kernel.store.database,
        requests=RequestRecords(kernel.store.database),
        flush=lines.flush,
        records=TracedRecords(kernel.store.database),
        needed={row.name: str(row.needs) for row in rows if row.needs is not None},
    )
