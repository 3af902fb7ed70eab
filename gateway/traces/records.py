"""Records under a trace id, within a company scope."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import select

from gateway.accounts.store import read_account
from gateway.core.account import Account
from gateway.core.company_scope import CompanyScope
from gateway.credentials.model import Credential
from gateway.credentials.store import StoredCredentials
from gateway.payouts.beside import rows_beside
from gateway.payouts.rows import restored_attempt, restored_payout
from gateway.store.kernel.database import Database
from gateway.store.tables.core import accounts, attempts, companies, payouts
from gateway.store.tables.scope import of_account, of_company
from gateway.traces.model import TracedAttempt

_TRACED_AT_MOST = 100
"""A trace id is one call's; nobody reads the tries of more."""


class TracedRecords:
    """Records of a company scope; other records are not found."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._credentials = StoredCredentials(database)

    async def credential(self, client_id: str, scope: CompanyScope) -> Credential | None:
        """Return a credential, also an ended one."""
        return await self._credentials.visible(client_id, scope)

    async def company_name(self, company_id: str, scope: CompanyScope) -> str:
        """Return a company's name; empty where it has no record."""
        own = (companies.c.id == company_id, *of_company(companies.c.id, scope))
        row = await self._database.first(select(companies.c.name).where(*own))
        return "" if row is None else row.name

    async def accounts_among(self, ids: Collection[str], scope: CompanyScope) -> Sequence[Account]:
        """Return the existing accounts among these; unordered."""
        own = of_company(accounts.c.company_id, scope)
        wanted = select(accounts).where(accounts.c.id.in_(ids), *own)
        return [read_account(row) for row in await self._database.rows(wanted)]

    async def attempts_of(self, trace_id: str, scope: CompanyScope) -> Sequence[TracedAttempt]:
        """Return the attempts to pay under a trace id, oldest first."""
        wanted = (
            select(attempts)
            .where(attempts.c.trace_id == trace_id, *of_account(attempts.c.account_id, scope))
            .order_by(attempts.c.started_at, attempts.c.account_id, attempts.c.reference_sha256)
            .limit(_TRACED_AT_MOST)
        )
        rows = await self._database.rows(wanted)
        keys = [(row.account_id, row.reference_sha256) for row in rows]
        paid = await rows_beside(self._database, payouts, sorted(set(keys)), ())
        return [
            TracedAttempt(restored_payout(paid[key][0]), restored_attempt(row))
            for row, key in zip(rows, keys, strict=True)
        ]
