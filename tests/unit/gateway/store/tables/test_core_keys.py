"""Payouts can be partitioned by account: each unique key includes it (docs/scale.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import PrimaryKeyConstraint, Table, UniqueConstraint

from gateway.store.tables import core

BY: Final = "account_id"
TOGETHER: Final = (core.payouts, core.attempts, core.returns, core.opinions)


def keys_without_account(table: Table) -> Iterator[str]:
    unique = [
        *(each for each in table.constraints if isinstance(each, UniqueConstraint)),
        *(each for each in table.constraints if isinstance(each, PrimaryKeyConstraint)),
        *(each for each in table.indexes if each.unique),
    ]
    for key in unique:
        names = [column.name for column in key.columns]
        if BY not in names:
            yield f"{table.name} ({', '.join(names)})"


def foreign_keys_to_another_account(table: Table) -> Iterator[str]:
    """Name the foreign keys to a payout that do not name its account."""
    for key in table.foreign_key_constraints:
        leads = {each.parent.name: each.column.name for each in key.elements}
        if key.referred_table in TOGETHER and leads.get(BY) != BY:
            yield f"{table.name} -> {key.referred_table.name}"


def test_every_unique_key_of_payouts_and_attempts_includes_the_account():
    assert [key for table in TOGETHER for key in keys_without_account(table)] == []


def test_rows_of_a_payout_reference_the_same_account():
    assert [key for table in TOGETHER for key in foreign_keys_to_another_account(table)] == []
