"""Every row of the back office, by what is asked in front of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.http.backoffice.callers import AccountCaller, BackOfficeCaller
from gateway.http.backoffice.cells import BackOfficeOperations
from gateway.http.backoffice.decisions.reviews import review_rows, unresolved_rows
from gateway.http.backoffice.money.dossiers import dossier_rows, probe_rows
from gateway.http.backoffice.money.payout_lists import payout_list_rows
from gateway.http.backoffice.money.payouts import withdraw_acting_rows, withdraw_reading_rows
from gateway.http.backoffice.money.search import search_rows
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


def backoffice_rows(does: BackOfficeOperations, nouns: Sequence[Routes]) -> BackOfficeRows:
    """Return every row; those of the sandbox bank are for the sandbox alone."""
    admin = does.admin
    return BackOfficeRows(
        staff=(
            *(row for each in nouns for row in each.staff),
            *review_rows(admin),
            *unresolved_rows(does),
            *payout_list_rows(does),
            *search_rows(does),
        ),
        fresh=[row for each in nouns for row in each.fresh],
        visible=(
            *withdraw_reading_rows(does),
            *dossier_rows(does),
            *probe_rows(does),
            *(row for each in nouns for row in each.visible),
        ),
        banking=(
            *withdraw_acting_rows(does),
            *(row for each in nouns for row in each.banking),
        ),
    )
