"""Rows that belong to payouts, found by the payouts' keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, select

from gateway.store.kernel.database import Database
from gateway.store.kernel.prepared import Key, bound
from gateway.store.tables.columns import Record


async def rows_beside(
    database: Database, table: Table, keys: Sequence[Key], order: Sequence[ColumnElement[Any]]
) -> Mapping[Key, Sequence[Record]]:
    """Return rows that belong to payouts, by payout key, in an order."""
    found: dict[Key, list[Record]] = {key: [] for key in keys}
    if not keys:
        return found
    columns = [table.c.account_id, table.c.reference_sha256]
    wanted = select(table).where(database.among(columns, "keys")).order_by(*order)
    for row in await database.rows(wanted, bound("keys", keys)):
        found[row.account_id, row.reference_sha256].append(row)
    return found
