"""The rows of one company in each table, and the tables that no move touches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, Table

from gateway.store.tables import backoffice, core, figures, notifications

_ACCOUNTS: Final = "(SELECT id FROM accounts WHERE company_id = $1)"
_CREDENTIALS: Final = "(SELECT client_id FROM credentials WHERE company_id = $1)"
_OF_COMPANY: Final = "company_id = $1"
_OF_ACCOUNTS: Final = f"account_id IN {_ACCOUNTS}"
_OF_CREDENTIALS: Final = f"client_id IN {_CREDENTIALS}"
_OF_DELIVERIES: Final = "delivery_id IN (SELECT id FROM deliveries WHERE company_id = $1)"
_OF_BATCHES: Final = "batch_id IN (SELECT id FROM payout_batches WHERE company_id = $1)"
_OF_SUBJECT: Final = (
    "(scope = 'company' AND subject = $1"
    f" OR scope = 'account' AND subject IN {_ACCOUNTS}"
    f" OR scope = 'credential' AND subject IN {_CREDENTIALS})"
)


@dataclass(frozen=True, slots=True)
class Owned:
    """
    The rows of one company in a table.

    Attributes:
        where: The SQL condition; ``$1`` is the company's id.
        amount: The column of an amount, which a comparison adds up.
        stays: Rows may not be deleted; they stay behind, and a copy adds those that are not there.
    """

    table: Table
    where: str
    amount: str = ""
    stays: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are copied: each database numbers events and computes by itself."""
        return tuple(
            each.name
            for each in self.table.columns
            if each.computed is None and each is not self.counts
        )

    @property
    def counts(self) -> Column[Any] | None:
        """The column in which each database counts by itself, in the order of its rows."""
        key = list(self.table.primary_key)
        return key[0] if [each.name for each in key] == ["number"] else None


OWNED: Final = (
    Owned(core.companies, "id = $1"),
    Owned(core.accounts, _OF_COMPANY),
    Owned(core.credentials, _OF_COMPANY),
    Owned(core.secrets, _OF_CREDENTIALS),
    Owned(core.credential_addresses, _OF_CREDENTIALS),
    Owned(core.expiry_notices, _OF_CREDENTIALS),
    Owned(core.sandbox_accounts, _OF_ACCOUNTS),
    Owned(core.payouts, _OF_ACCOUNTS, "centavos"),
    Owned(core.attempts, _OF_ACCOUNTS),
    Owned(core.payout_events, _OF_ACCOUNTS, stays=True),
    Owned(core.events, _OF_ACCOUNTS),
    Owned(core.event_feeds, _OF_ACCOUNTS),
    Owned(core.payment_walks, _OF_ACCOUNTS),
    # After events: where endpoints are, the database writes a delivery of each event that arrives.
    Owned(core.endpoints, _OF_COMPANY),
    Owned(core.deliveries, _OF_COMPANY),
    Owned(notifications.chats, _OF_COMPANY),
    Owned(core.delivery_tries, _OF_DELIVERIES),
    Owned(core.returns, _OF_ACCOUNTS, "centavos"),
    Owned(core.opinions, _OF_ACCOUNTS, "centavos"),
    Owned(core.archived_payouts, _OF_ACCOUNTS, "centavos"),
    Owned(core.archive_files, _OF_ACCOUNTS, "centavos"),
    Owned(core.charges, _OF_ACCOUNTS, "centavos"),
    Owned(core.received, _OF_ACCOUNTS),
    Owned(core.refunded, _OF_ACCOUNTS),
    Owned(core.stops, _OF_SUBJECT),
    Owned(core.day_closings, _OF_ACCOUNTS, "closing"),
    Owned(core.day_readings, _OF_ACCOUNTS, "closing"),
    Owned(core.foreign_debits, _OF_ACCOUNTS, "centavos"),
    Owned(core.debit_readings, _OF_ACCOUNTS),
    Owned(backoffice.approvals, f"({_OF_COMPANY} OR {_OF_ACCOUNTS})", "centavos"),
    Owned(backoffice.batches, _OF_COMPANY, "centavos"),
    Owned(backoffice.batch_rows, _OF_BATCHES, "centavos"),
    Owned(backoffice.batch_problems, _OF_BATCHES),
    Owned(figures.account_readings, _OF_ACCOUNTS, "balance"),
    Owned(figures.outflow_hours, _OF_SUBJECT, "centavos"),
    Owned(figures.outflow_payees, _OF_COMPANY),
    Owned(figures.outflow_trips, _OF_COMPANY),
)
"""Parents first, so that foreign keys hold at each row."""

COUNTED_ANEW: Final = frozenset({"payout_hours"})
"""Sums of payouts by company in hours that each database closes by itself."""
INDEXES: Final = frozenset({"payout_checks", "payout_names", "payouts_by_people"})
"""Written and deleted with each payout by the database's own triggers."""
STAYING: Final[Mapping[str, str]] = {
    "audit": "acts stay in the chain that proves them",
    "callbacks": "what banks told; a move waits until nothing is open, so none is needed again",
    "closed_hours": "of all companies",
    "company_moves": "of each cell",
    "identity_providers": "users stay, too: it is set anew where they get an account",
    "request_log": "of the cell that answered; for 30 days",
}
"""Tables with rows of a company that stay where they are, and why."""
