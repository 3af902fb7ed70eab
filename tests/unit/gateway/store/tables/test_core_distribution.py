"""Whether payouts could be distributed by account, as Citus wants it (docs/scale.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import PrimaryKeyConstraint, Table, UniqueConstraint

from gateway.store.tables import backoffice, core

BY: Final = "account_id"
DISTRIBUTED: Final = (core.payouts, core.attempts, core.returns, core.opinions)
NOT_YET: Final = {
    "payout_events": "its number alone is its key, by which events are read in their order",
    "charges": "its id alone is its key, by which partners ask for a charge",
    "request_log": "lines of requests, many of them without an account; by time, not by account",
    "approvals": "people's acts are few: they stay where the audit log is",
}
"""Tables with an account and a key without it, and why."""
REFERENCES: Final = frozenset({"accounts", "companies", "credentials", "credential_secrets"})
"""Small tables, which each node would have whole."""


def keys_without_account(table: Table) -> Iterator[str]:
    """Name the unique keys that two accounts share."""
    unique = [
        *(each for each in table.constraints if isinstance(each, UniqueConstraint)),
        *(each for each in table.constraints if isinstance(each, PrimaryKeyConstraint)),
        *(each for each in table.indexes if each.unique),
    ]
    for key in unique:
        names = [column.name for column in key.columns]
        if BY not in names:
            yield f"{table.name} ({', '.join(names)})"


def foreign_keys_that_leave_the_account(table: Table) -> Iterator[str]:
    """Name the foreign keys that lead to rows of another node."""
    together = {each.name for each in DISTRIBUTED}
    for key in table.foreign_key_constraints:
        target = key.referred_table.name
        leads = {each.parent.name: each.column.name for each in key.elements}
        is_near = target in together and leads.get(BY) == BY
        if not (is_near or target in REFERENCES):
            yield f"{table.name} -> {target}"


def test_every_unique_key_of_payouts_and_their_tries_holds_the_account():
    assert [key for table in DISTRIBUTED for key in keys_without_account(table)] == []


def test_foreign_keys_of_payouts_stay_with_the_account_or_lead_to_small_tables():
    wrong = [each for table in DISTRIBUTED for each in foreign_keys_that_leave_the_account(table)]
    small = [
        each
        for table in core.METADATA.tables.values()
        if table.name in REFERENCES
        for each in foreign_keys_that_leave_the_account(table)
    ]

    assert wrong == []
    assert small == []


def test_the_tables_that_are_not_ready_are_known():
    """One that has become ready leaves the list, and the page."""
    by_account = [
        table
        for table in backoffice.METADATA.tables.values()
        if BY in table.columns and table not in DISTRIBUTED and table.name not in REFERENCES
    ]

    unready = {table.name for table in by_account if [*keys_without_account(table)]}

    assert unready == set(NOT_YET)
