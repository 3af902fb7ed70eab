"""
Payouts whose rows are archived, read as rows of ``payouts``.

A payout is in one of the two tables, and moves by one transaction. Whoever looks a reference up
reads both by one statement, so there is no moment at which neither has it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Select, false, literal_column, null, select

from gateway.store.tables.core import archived_payouts, payouts

YOUNGEST: Final = timedelta(days=150)
"""No payout younger is archived: ``payouts.keep_months`` is 6 or more; a month is for clocks."""
NO_DESTINATION: Final = "{}"
"""The destination of an archived payout: what was sent, masked, stands for it."""

_EMPTY: Final[ColumnElement[str]] = literal_column("''")
_ABSENT: Final[dict[str, ColumnElement[Any]]] = {
    "destination": literal_column(f"'{NO_DESTINATION}'"),
    "lease_until": archived_payouts.c.updated_at,
    # No bank is asked about an archived payout, and nothing that a bank says belongs to it.
    "provider_id": _EMPTY,
    "provider_account": _EMPTY,
    "payee_folded": _EMPTY,
    "review": false(),
}


def _read_as(column: Column[Any]) -> ColumnElement[Any]:
    kept = archived_payouts.c.get(column.name)
    found = _ABSENT.get(column.name, null()) if kept is None else kept
    return found.label(column.name)


ARCHIVED: Final[Select[*tuple[Any, ...]]] = select(*map(_read_as, payouts.c))
"""Archived payouts with the columns of ``payouts``, in their order."""
