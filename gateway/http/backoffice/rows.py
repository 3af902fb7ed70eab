"""Every row of the back office, by what is asked in front of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.http.backoffice.administration.accounts import (
    AccountActs,
    account_change_rows,
    account_list_rows,
    account_reading_rows,
    account_record_rows,
)
from gateway.http.backoffice.administration.bank_connections import connection_rows
from gateway.http.backoffice.administration.bank_numbers import bank_number_rows
from gateway.http.backoffice.administration.configuration import (
    Configuration,
    configuration_rows,
)
from gateway.http.backoffice.administration.credentials import CredentialActs, credential_rows
from gateway.http.backoffice.administration.names import name_rows
from gateway.http.backoffice.callers import AccountCaller, BackOfficeCaller
from gateway.http.backoffice.cells import BackOfficeOperations
from gateway.http.backoffice.decisions.reviews import review_rows, unresolved_rows
from gateway.http.backoffice.money.dossiers import dossier_rows, probe_rows
from gateway.http.backoffice.money.payout_lists import payout_list_rows
from gateway.http.backoffice.money.payouts import withdraw_acting_rows, withdraw_reading_rows
from gateway.http.backoffice.money.search import search_rows
from gateway.http.backoffice.oversight.audit import audit_rows
from gateway.http.backoffice.oversight.callbacks import webhook_rows
from gateway.http.backoffice.oversight.outbox import outbox_rows
from gateway.http.backoffice.oversight.overview import overview_rows
from gateway.http.backoffice.oversight.providers import Health, provider_rows
from gateway.http.backoffice.oversight.requests import request_rows
from gateway.http.backoffice.oversight.traces import TraceActs, trace_rows
from gateway.http.backoffice.oversight.weather import weather_rows
from gateway.http.backoffice.routing import Routes
from gateway.http.route import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeRows:
    """
    The rows, by what is asked in front of them.

    Attributes:
        staff: Of no account: a person, a right, a fresh factor where it needs one.
        fresh: The same, with a fresh factor whatever the right.
        visible: Of one account in the path that is shown to the person, in
            whatever state.
        banking: Of one that is also active and verified (contract 5.1).
    """

    staff: Sequence[Row[BackOfficeCaller]]
    fresh: Sequence[Row[BackOfficeCaller]]
    visible: Sequence[Row[AccountCaller]]
    banking: Sequence[Row[AccountCaller]]


def backoffice_rows(
    does: BackOfficeOperations,
    traces: TraceActs,
    configuration: Configuration,
    providers: Callable[[], Sequence[Health]],
    nouns: Sequence[Routes],
) -> BackOfficeRows:
    """Return every row; ``providers`` says what is known of each, mail is for the sandbox alone."""
    admin, oversight = does.admin, does.oversight
    accounts = AccountActs(admin, does.banks)
    return BackOfficeRows(
        staff=(
            *account_list_rows(does),
            *name_rows(admin),
            *account_record_rows(accounts),
            *credential_rows(CredentialActs(admin, does.credentials, does.approvals)),
            *(row for each in nouns for row in each.staff),
            *review_rows(admin),
            *unresolved_rows(does),
            *payout_list_rows(does),
            *search_rows(does),
            *bank_number_rows(does),
            *audit_rows(oversight),
            *webhook_rows(oversight),
            *request_rows(oversight, does.exports),
            *trace_rows(traces),
            *configuration_rows(configuration),
            *provider_rows(providers),
            *overview_rows(does.figures, providers),
            *weather_rows(does.figures.weather),
            *(outbox_rows(oversight) if oversight.outbox is not None else ()),
        ),
        fresh=[row for each in nouns for row in each.fresh],
        visible=(
            *account_reading_rows(does),
            *connection_rows(does),
            *withdraw_reading_rows(does),
            *dossier_rows(does),
            *probe_rows(does),
            *account_change_rows(accounts),
            *(row for each in nouns for row in each.visible),
        ),
        banking=(
            *withdraw_acting_rows(does),
            *(row for each in nouns for row in each.banking),
        ),
    )
