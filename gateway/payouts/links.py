"""Payouts behind movements of a statement, in the store."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import or_, select

from gateway.payouts.model import Payout
from gateway.payouts.rows import restored_payout
from gateway.store.kernel.database import Database
from gateway.store.tables.core import payouts


class PayoutLinks:
    """Finds payouts of an account by what its bank tells of a movement."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def behind(
        self, account_id: str, e2e_ids: Collection[str], provider_keys: Collection[str]
    ) -> Sequence[Payout]:
        """Return those with one of these end-to-end ids or keys."""
        ids = [each for each in e2e_ids if each]
        keys = [each for each in provider_keys if each]
        if not ids and not keys:
            return []
        # Either part leads to an index of its own; most payouts of an account are of neither.
        named = or_(payouts.c.e2e_id.in_(ids), payouts.c.provider_key.in_(keys))
        wanted = select(payouts).where(named, payouts.c.account_id == account_id)
        return [restored_payout(row) for row in await self._database.rows(wanted)]
