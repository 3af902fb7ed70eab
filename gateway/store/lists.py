"""Records within a company scope, in pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Select,
    func,
    select,
)

from gateway.accounts.store import read_account
from gateway.core.account import Account
from gateway.core.company_scope import CompanyScope
from gateway.core.user import User
from gateway.core.windows import Listed, Paging
from gateway.credentials.model import Credential
from gateway.credentials.store import EVERY, read_credentials
from gateway.identity.user_store import read_user
from gateway.payouts.beside import rows_beside
from gateway.payouts.rows import restored_attempt, restored_payout
from gateway.store.kernel.database import Database, page
from gateway.store.tables.columns import Record
from gateway.store.tables.core import (
    accounts,
    attempts,
    companies,
    credentials,
    payouts,
)
from gateway.store.tables.identity import sessions, users
from gateway.store.tables.scope import of_account, of_company, users_in
from gateway.traces.model import TracedAttempt

_TRACED_AT_MOST = 100
"""A trace id is one call's; nobody reads the tries of more."""


class ScopedRecords:
    """
    Records as a caller of the back office finds them: within their company scope, in pages.

    What lies outside of the scope is not found, not listed, and not counted.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def company_name(self, company_id: str, scope: CompanyScope) -> str:
        """Return what a company is called; empty where it has no record."""
        own = (companies.c.id == company_id, *of_company(companies.c.id, scope))
        row = await self._one(select(companies.c.name).where(*own))
        return "" if row is None else row.name

    async def account(self, account_id: str, scope: CompanyScope) -> Account | None:
        """Return one account by its lower-case id."""
        wanted = select(accounts).where(accounts.c.id == account_id)
        row = await self._one(wanted.where(*of_company(accounts.c.company_id, scope)))
        return None if row is None else read_account(row)

    async def credential(self, client_id: str, scope: CompanyScope) -> Credential | None:
        """Return one credential, also one that has ended."""
        own = (credentials.c.client_id == client_id, *of_company(credentials.c.company_id, scope))
        rows = await self._database.rows(EVERY.where(*own))
        return next(iter(read_credentials(rows)), None)

    async def user(self, user_id: str, scope: CompanyScope) -> User | None:
        """Return one user by id or e-mail: one who sees no company beyond the scope."""
        column = users.c.email if "@" in user_id else users.c.id
        row = await self._one(select(users).where(column == user_id, *users_in(scope)))
        return None if row is None else read_user(row)

    async def users(self, paging: Paging, scope: CompanyScope) -> Listed[User]:
        """Return a page of users, oldest first."""
        wanted = select(users).order_by(users.c.created_at, users.c.id).where(*users_in(scope))
        return await page(self._database, wanted, paging, read_user)

    async def last_sign_ins(self, user_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these users last signed in, as far as it is on record."""
        latest = func.max(sessions.c.created_at).label("at")
        wanted = (
            select(sessions.c.user_id, latest)
            .where(sessions.c.user_id.in_(user_ids))
            .group_by(sessions.c.user_id)
        )
        return {row.user_id: row.at for row in await self._database.rows(wanted)}

    async def accounts_among(self, ids: Collection[str], scope: CompanyScope) -> Sequence[Account]:
        """Return those of these accounts that there are; in no order."""
        own = of_company(accounts.c.company_id, scope)
        wanted = select(accounts).where(accounts.c.id.in_(ids), *own)
        return [read_account(row) for row in await self._database.rows(wanted)]

    async def attempts_of(self, trace_id: str, scope: CompanyScope) -> Sequence[TracedAttempt]:
        """Return the tries to pay that were made under a trace id, oldest first."""
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

    async def _one(self, wanted: Select[*tuple[Any, ...]]) -> Record | None:
        """Return the row there is; None for none."""
        return await self._database.first(wanted)
