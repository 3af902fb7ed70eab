"""The accounts that partners opened by themselves, in the store: counted, and ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import delete, func, insert, select

from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.core import planned_checks, sandbox_accounts

_LOCK: Final = 0x7069_7867_7361_6E64
"""A number of our own for PostgreSQL's advisory locks; any other would do as well."""
_CLOSED_AT_ONCE: Final = 100


class OpenedAccount(Struct, frozen=True, kw_only=True):
    """
    An account that a partner opened.

    Attributes:
        account_id: The account, which may not be there yet.
        network: Where it was opened from: ``site`` of ``core/networks.py``.
        ends_at: When its credential ends; until then it counts.
    """

    account_id: str
    network: str
    opened_at: datetime
    ends_at: datetime


class OpenedAccounts:
    """Opened accounts in the store; ``StoreUnavailable`` when it does not answer."""

    def __init__(self, database: Database, of_network: int, in_all: int) -> None:
        """Keep at most so many that have not ended: of a network, and in all."""
        self._database = database
        self._of_network = of_network
        self._in_all = in_all

    async def add(self, opened: OpenedAccount) -> datetime | None:
        """
        Store an account; where there are as many as may be, return when one of them ends.

        Processes that add at once count one after the other: SQLite has one writer anyhow,
        PostgreSQL a lock.
        """
        lasts = sandbox_accounts.c.ends_at > opened.opened_at
        own = select(sandbox_accounts.c.ends_at).where(
            lasts, sandbox_accounts.c.network == opened.network
        )
        counted = select(
            func.count().label("count"), func.min(sandbox_accounts.c.ends_at).label("ends")
        ).where(lasts)
        async with self._database.writing() as connection:
            if connection.dialect.name == "postgresql":
                await connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            ends = sorted((await connection.execute(own)).scalars())
            every = (await connection.execute(counted)).one()
            free: datetime | None = None
            if len(ends) >= self._of_network:
                free = ends[-self._of_network]
            elif every.count >= self._in_all:
                free = every.ends
            else:
                await connection.execute(insert(sandbox_accounts), row_of(opened))
        return free

    async def ended(self, before: datetime) -> Sequence[str]:
        """
        Return accounts that ended before an instant, the oldest first, a hundred at most.

        Without those of which a payout is still followed up: without its bank it would stay
        unresolved.
        """
        followed = select(planned_checks).where(
            planned_checks.c.account_id == sandbox_accounts.c.account_id
        )
        wanted = (
            select(sandbox_accounts)
            .where(sandbox_accounts.c.ends_at < before, ~followed.exists())
            .order_by(sandbox_accounts.c.ends_at)
            .limit(_CLOSED_AT_ONCE)
        )
        rows = await self._database.rows(wanted)
        return [from_row(row, OpenedAccount).account_id for row in rows]

    async def forget(self, account_id: str) -> None:
        """Delete the row of an account; safe to repeat."""
        own = sandbox_accounts.c.account_id == account_id
        await self._database.write(delete(sandbox_accounts).where(own))
