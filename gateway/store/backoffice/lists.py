"""Records within a company scope, in pages; and the log of served requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, delete, func, insert, select

from gateway.domain.accounts.accounts import Account, Company
from gateway.domain.accounts.credentials import Credential
from gateway.domain.backoffice.lists import (
    LoggedRequest,
    OwnedAccount,
    RequestSearch,
    UnresolvedPayout,
)
from gateway.domain.identity.users import User
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.payouts import Payout
from gateway.domain.payouts.stops import Stop
from gateway.store.accounts.accounts import read_account, read_company
from gateway.store.accounts.credentials import EVERY, read_credentials
from gateway.store.backoffice.stops import read_stop
from gateway.store.identity.users import read_user
from gateway.store.kernel.database import Database, Key, page
from gateway.store.payouts.followups import UNRESOLVED
from gateway.store.payouts.reviews import restored_opinion
from gateway.store.payouts.rows import restored_attempt, restored_payout
from gateway.store.tables.backoffice import requests
from gateway.store.tables.columns import Record, record_of, row_of
from gateway.store.tables.core import (
    accounts,
    attempts,
    companies,
    credentials,
    opinions,
    payouts,
    stops,
)
from gateway.store.tables.identity import sessions, users
from gateway.store.tables.scope import of_account, of_company, stops_in, stops_of, users_in

_NEWEST = select(requests).order_by(requests.c.at.desc(), requests.c.number.desc())


class StoredRequestLog:
    """``RequestLog`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, logged: Sequence[LoggedRequest]) -> None:
        """Store some."""
        if not logged:
            return
        async with self._database.writing() as connection:
            await connection.execute(insert(requests), [row_of(each) for each in logged])

    async def search(
        self, search: RequestSearch, scope: CompanyScope
    ) -> tuple[Sequence[LoggedRequest], int]:
        """Return a page, newest first, and how many there are."""
        wanted = _NEWEST.where(requests.c.at >= search.since, requests.c.at < search.until)
        for column, value in (
            (requests.c.trace_id, search.trace_id),
            (requests.c.route, search.route),
            (requests.c.status, search.status),
            (requests.c.client_id, search.client_id),
            (requests.c.user_id, search.user_id),
        ):
            if value is not None:
                wanted = wanted.where(column == value)
        wanted = wanted.where(*of_company(requests.c.company_id, scope))
        rows, total = await page(self._database, wanted, search.paging)
        return [record_of(LoggedRequest, row) for row in rows], total

    async def forget(self, before: datetime) -> int:
        """Delete what is older; return how many."""
        old = delete(requests).where(requests.c.at < before)
        async with self._database.writing() as connection:
            return (await connection.execute(old)).rowcount


_OWNED = (
    select(
        accounts,
        companies.c.name.label("company_name"),
        companies.c.created_at.label("company_created_at"),
    )
    .outerjoin(companies, companies.c.id == accounts.c.company_id)
    .order_by(accounts.c.created_at, accounts.c.id)
)
_HOLDING = select(stops).where(stops.c.lifted_at.is_(None)).order_by(stops.c.created_at, stops.c.id)


class StoredScopedRecords:
    """``ScopedRecords`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def company(self, company_id: str, scope: CompanyScope) -> Company | None:
        """Return one company."""
        wanted = select(companies).where(companies.c.id == company_id)
        row = await self._one(wanted.where(*of_company(companies.c.id, scope)))
        return None if row is None else read_company(row)

    async def account(self, account_id: str, scope: CompanyScope) -> Account | None:
        """Return one account by its lower-case id."""
        wanted = select(accounts).where(accounts.c.id == account_id)
        row = await self._one(wanted.where(*of_company(accounts.c.company_id, scope)))
        return None if row is None else read_account(row)

    async def credential(self, client_id: str, scope: CompanyScope) -> Credential | None:
        """Return one credential, also one that has ended."""
        own = (credentials.c.client_id == client_id, *of_company(credentials.c.company_id, scope))
        async with self._database.reading() as connection:
            rows = (await connection.execute(EVERY.where(*own))).all()
        return next(iter(read_credentials(rows)), None)

    async def user(self, user_id: str, scope: CompanyScope) -> User | None:
        """Return one user by id or e-mail: one who sees no company beyond the scope."""
        column = users.c.email if "@" in user_id else users.c.id
        row = await self._one(select(users).where(column == user_id, *users_in(scope)))
        return None if row is None else read_user(row)

    async def stop(self, stop_id: str, scope: CompanyScope, at: datetime) -> Stop | None:
        """Return one kill switch that holds at an instant; never a provider's to a limited one."""
        own = (stops.c.id == stop_id, stops.c.ends_at > at, *stops_of(scope))
        row = await self._one(_HOLDING.where(*own))
        return None if row is None else read_stop(row)

    async def companies(self, paging: Paging, scope: CompanyScope) -> tuple[Sequence[Company], int]:
        """Return a page of companies, oldest first, and how many there are."""
        wanted = select(companies).order_by(companies.c.created_at, companies.c.id)
        wanted = wanted.where(*of_company(companies.c.id, scope))
        rows, total = await page(self._database, wanted, paging)
        return [read_company(row) for row in rows], total

    async def accounts(
        self, paging: Paging, scope: CompanyScope, company_id: str | None
    ) -> tuple[Sequence[OwnedAccount], int]:
        """Return a page of accounts with their companies, oldest first, and how many there are."""
        wanted = _OWNED.where(*of_company(accounts.c.company_id, scope))
        if company_id is not None:
            wanted = wanted.where(accounts.c.company_id == company_id)
        rows, total = await page(self._database, wanted, paging)
        return [_owned(row) for row in rows], total

    async def credentials(
        self, paging: Paging, scope: CompanyScope, company_id: str | None
    ) -> tuple[Sequence[Credential], int]:
        """Return a page of credentials, oldest first, and how many there are."""
        order = (credentials.c.created_at, credentials.c.client_id)
        wanted = select(credentials.c.client_id).order_by(*order)
        wanted = wanted.where(*of_company(credentials.c.company_id, scope))
        if company_id is not None:
            wanted = wanted.where(credentials.c.company_id == company_id)
        rows, total = await page(self._database, wanted, paging)
        if not rows:
            return [], total
        # one has a row for each of its secrets, so that a page is cut by id
        whole = EVERY.where(credentials.c.client_id.in_([row.client_id for row in rows]))
        async with self._database.reading() as connection:
            found = (await connection.execute(whole)).all()
        return read_credentials(found), total

    async def users(self, paging: Paging, scope: CompanyScope) -> tuple[Sequence[User], int]:
        """Return a page of users, oldest first, and how many there are."""
        wanted = select(users).order_by(users.c.created_at, users.c.id).where(*users_in(scope))
        rows, total = await page(self._database, wanted, paging)
        return [read_user(row) for row in rows], total

    async def last_sign_ins(self, user_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these users last signed in, as far as it is on record."""
        latest = func.max(sessions.c.created_at).label("at")
        wanted = (
            select(sessions.c.user_id, latest)
            .where(sessions.c.user_id.in_(user_ids))
            .group_by(sessions.c.user_id)
        )
        async with self._database.reading() as connection:
            return {row.user_id: row.at for row in await connection.execute(wanted)}

    async def stops(
        self, paging: Paging, scope: CompanyScope, at: datetime
    ) -> tuple[Sequence[Stop], int]:
        """Return a page of the kill switches that hold at an instant, and how many do."""
        wanted = _HOLDING.where(stops.c.ends_at > at, *stops_in(scope))
        rows, total = await page(self._database, wanted, paging)
        return [read_stop(row) for row in rows], total

    async def reviews(self, paging: Paging, scope: CompanyScope) -> tuple[Sequence[Payout], int]:
        """Return a page of the payouts in review, and how many there are."""
        wanted = (
            select(payouts)
            .where(payouts.c.review, *of_account(payouts.c.account_id, scope))
            .order_by(payouts.c.created_at, payouts.c.account_id, payouts.c.reference_sha256)
        )
        rows, total = await page(self._database, wanted, paging)
        return [restored_payout(row) for row in rows], total

    async def unresolved(
        self, paging: Paging, scope: CompanyScope
    ) -> tuple[Sequence[UnresolvedPayout], int]:
        """Return a page of the payouts whose outcome is not proven, and how many there are."""
        wanted = (
            select(payouts)
            .where(UNRESOLVED, *of_account(payouts.c.account_id, scope))
            .order_by(payouts.c.created_at, payouts.c.account_id, payouts.c.reference_sha256)
        )
        rows, total = await page(self._database, wanted, paging)
        keys = [(row.account_id, row.reference_sha256) for row in rows]
        tried = await self._beside(attempts, keys, (attempts.c.number,))
        said = await self._beside(opinions, keys, (opinions.c.at, opinions.c.by))
        return [
            UnresolvedPayout(
                payout=restored_payout(row),
                attempts=[restored_attempt(each) for each in tried[key]],
                opinions=[restored_opinion(each, row.reference) for each in said[key]],
            )
            for row, key in zip(rows, keys, strict=True)
        ], total

    async def _beside(
        self, table: Table, keys: Sequence[Key], order: Sequence[ColumnElement[Any]]
    ) -> Mapping[Key, Sequence[Record]]:
        """Return the rows that belong to payouts, by the payout's key, in an order."""
        found: dict[Key, list[Record]] = {key: [] for key in keys}
        if not keys:
            return found
        columns = [table.c.account_id, table.c.reference_sha256]
        wanted = select(table).where(self._database.among(columns, keys)).order_by(*order)
        async with self._database.reading() as connection:
            for row in await connection.execute(wanted):
                found[row.account_id, row.reference_sha256].append(row)
        return found

    async def _one(self, wanted: Select[*tuple[Any, ...]]) -> Record | None:
        """Return the row there is; None for none."""
        async with self._database.reading() as connection:
            return (await connection.execute(wanted)).first()


def _owned(row: Record) -> OwnedAccount:
    account = read_account(row)
    if row.company_name is None:
        return OwnedAccount(account, None)
    return OwnedAccount(
        account, Company(account.company_id, row.company_name, row.company_created_at)
    )
