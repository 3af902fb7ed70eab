"""What operators watch: overview, banks, audit log, request log, callbacks, traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from gateway.audit import pages as audit_pages
from gateway.audit import routes as audit_routes
from gateway.audit.service import AuditLog
from gateway.banks import pages as bank_pages
from gateway.banks import routes as bank_routes
from gateway.banks.model import Provider
from gateway.banks.readings import Readings
from gateway.banks.service import BankReports
from gateway.banks.store import ProviderMinutes
from gateway.callbacks import pages as callback_pages
from gateway.callbacks import routes as callback_routes
from gateway.callbacks.service import Callbacks
from gateway.callbacks.store import CallbackRecords
from gateway.config.effective import config_digest, effective
from gateway.config.settings import Settings
from gateway.configuration import pages as configuration_pages
from gateway.configuration import routes as configuration_routes
from gateway.configuration.service import Configuration
from gateway.domain.accounts.accounts import Environment
from gateway.http.backoffice.cells import BackOfficeOperations
from gateway.http.backoffice.routing import Routes
from gateway.http.panel.pages.kit import PageContext
from gateway.http.panel.pages.page import Page
from gateway.http.route import Surface
from gateway.http.table import Table
from gateway.outbox import routes as outbox_routes
from gateway.outbox.service import Outbox
from gateway.overview import pages as overview_pages
from gateway.overview import routes as overview_routes
from gateway.overview.service import Overviews
from gateway.overview.store import OverviewRecords
from gateway.reference import pages as reference_pages
from gateway.request_log import pages as request_pages
from gateway.request_log import routes as request_routes
from gateway.request_log.service import RequestLog
from gateway.request_log.store import RequestRecords
from gateway.runtime.kernel import Kernel
from gateway.security.identity.sealed_mail import SealedOutbox
from gateway.store.schema import REVISIONS, revision_of
from gateway.traces import pages as trace_pages
from gateway.traces import routes as trace_routes
from gateway.traces.rehearsals import Rehearsals
from gateway.traces.service import Traces
from gateway.traces.what_if import WhatIf

Known = Callable[[], Sequence[Provider]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Oversight:
    """
    The services.

    Attributes:
        partners: The surface that traces explain and the reference shows.
        outbox: None in production, where nobody reads mail.
    """

    partners: Surface
    audit: AuditLog
    banks: BankReports
    readings: Readings
    callbacks: Callbacks
    configuration: Configuration
    overviews: Overviews
    requests: RequestLog
    traces: Traces
    outbox: Outbox | None


def build_oversight(
    kernel: Kernel,
    office: BackOfficeOperations,
    rehearse: Rehearsals,
    partners: Surface,
    known: Known,
) -> Oversight:
    """Build the services; ``known`` returns what this process knows of each bank."""
    store, providers = kernel.store, frozenset(kernel.settings.providers)
    records = RequestRecords(store.database)
    mail = SealedOutbox(store.identity.outbox, kernel.keys.sealer)
    is_sandbox = kernel.settings.environment is Environment.SANDBOX  # mail is shown there alone
    return Oversight(
        partners=partners,
        audit=AuditLog(database=store.database, chain=store.audit),
        banks=BankReports(
            minutes=ProviderMinutes(store.database), names=providers, known=known, now=kernel.now
        ),
        readings=office.readings,
        callbacks=Callbacks(CallbackRecords(store.database)),
        configuration=_configuration(kernel),
        overviews=build_overviews(kernel, known),
        requests=RequestLog(records, office.exports.turns),
        traces=_traces(kernel, rehearse, records, partners),
        outbox=Outbox(mail) if is_sandbox else None,
    )


def build_overviews(kernel: Kernel, known: Known = tuple) -> Overviews:
    """Build what counts payouts by hour."""
    # a bank whose callbacks have a secret of their own is to send them
    providers = kernel.settings.providers
    telling = frozenset(name for name, each in providers.items() if each.callbacks.secret)
    records = OverviewRecords(kernel.store.database)
    return Overviews(records=records, telling=telling, known=known, now=kernel.now)


def oversight_routes(does: Oversight) -> Sequence[Routes]:
    """Return the routes of every noun."""
    return (
        audit_routes.routes(does.audit),
        callback_routes.routes(does.callbacks),
        request_routes.routes(does.requests),
        trace_routes.routes(does.traces),
        configuration_routes.routes(does.configuration),
        bank_routes.routes(does.banks, does.readings),
        overview_routes.routes(does.overviews),
        *((outbox_routes.routes(does.outbox),) if does.outbox else ()),
    )


def oversight_pages(does: Oversight, context: PageContext) -> Sequence[Page]:
    """Return the pages of every noun; in the sandbox partners' calls can be tried."""
    reference = reference_pages.Reference(does.partners)
    return (
        *overview_pages.pages(does.overviews, does.banks, does.readings, does.requests, context),
        *request_pages.pages(does.requests, context),
        *trace_pages.pages(does.traces, context),
        *bank_pages.pages(does.banks, context),
        *callback_pages.pages(does.callbacks, context),
        *audit_pages.pages(does.audit, context),
        *configuration_pages.pages(does.configuration, context),
        *reference_pages.pages(reference, context, tries=does.outbox is not None),
    )


def _configuration(kernel: Kernel) -> Configuration:
    """Build what tells how this process is configured."""
    settings = kernel.settings
    configuration = Configuration(
        version=version("pixgate"),
        environment=settings.environment.value,
        digest=config_digest(settings),
        shown=partial(effective, settings),
        revision=partial(revision_of, kernel.store.database),
        revisions=REVISIONS,
    )

    def take(settings: Settings) -> None:
        """Tell of the settings that are in force from now on."""
        configuration.digest = config_digest(settings)
        configuration.shown = partial(effective, settings)

    kernel.reloads.append(take)
    return configuration


def _traces(
    kernel: Kernel, rehearse: Rehearsals, records: RequestRecords, partners: Surface
) -> Traces:
    """Build what explains the partners' surface, by its own rows and policies."""
    scoped = kernel.store.office.scoped
    rows = [row for gate in partners.gates for row in gate.rows]
    return Traces(
        database=kernel.store.database,
        requests=records,
        records=scoped,
        needed={row.name: str(row.needs) for row in rows if row.needs is not None},
        what_if=WhatIf(Table([partners]), scoped, rehearse),
    )
