"""Lists of the back office: each page is cut, filtered and counted by the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from gateway.domain.accounts.accounts import Company
from gateway.domain.accounts.credentials import Credential
from gateway.domain.backoffice.lists import Shown
from gateway.domain.identity.users import User
from gateway.domain.payouts.payouts import Payout
from gateway.domain.payouts.stops import Stop, StopScope
from gateway.store.accounts.companies import read_company
from gateway.store.accounts.credentials import EVERY, read_credentials
from gateway.store.backoffice.stops import read_stop
from gateway.store.identity.users import read_user
from gateway.store.kernel.database import Database
from gateway.store.kernel.pages import page
from gateway.store.payouts.rows import restored_payout
from gateway.store.tables.core import accounts, companies, credentials, payouts, stops
from gateway.store.tables.identity import sessions, users

_ID_AND_BLANK = 37
"""The length of a UUID and of the blank between two."""


class StoredLists:
    """``Lists`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def companies(self, shown: Shown) -> tuple[Sequence[Company], int]:
        """Return a page of companies, oldest first, and how many there are."""
        wanted = select(companies).order_by(companies.c.created_at, companies.c.id)
        if shown.companies:
            wanted = wanted.where(companies.c.id.in_(shown.companies))
        rows, total = await page(self._database, wanted, shown.paging)
        return [read_company(row) for row in rows], total

    async def credentials(
        self, shown: Shown, company_id: str | None
    ) -> tuple[Sequence[Credential], int]:
        """Return a page of credentials, oldest first, and how many there are."""
        order = (credentials.c.created_at, credentials.c.client_id)
        wanted = select(credentials.c.client_id).order_by(*order)
        if company_id is not None:
            wanted = wanted.where(credentials.c.company_id == company_id)
        if shown.companies:
            wanted = wanted.where(credentials.c.company_id.in_(shown.companies))
        rows, total = await page(self._database, wanted, shown.paging)
        if not rows:
            return [], total
        # one has a row for each of its secrets, so that a page is cut by id
        whole = EVERY.where(credentials.c.client_id.in_([row.client_id for row in rows]))
        async with self._database.reading() as connection:
            found = (await connection.execute(whole)).all()
        return read_credentials(found), total

    async def people(self, shown: Shown) -> tuple[Sequence[User], int]:
        """Return a page of people, oldest first, and how many there are."""
        wanted = select(users).order_by(users.c.created_at, users.c.id)
        if shown.companies:
            wanted = wanted.where(_within(shown.companies))
        rows, total = await page(self._database, wanted, shown.paging)
        return [read_user(row) for row in rows], total

    async def last_sign_ins(self, user_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these people last signed in, as far as it is on record."""
        latest = func.max(sessions.c.created_at).label("at")
        wanted = (
            select(sessions.c.user_id, latest)
            .where(sessions.c.user_id.in_(user_ids))
            .group_by(sessions.c.user_id)
        )
        async with self._database.reading() as connection:
            return {row.user_id: row.at for row in await connection.execute(wanted)}

    async def stops(self, shown: Shown, at: datetime) -> tuple[Sequence[Stop], int]:
        """Return a page of the stops that hold at an instant, and how many do."""
        wanted = (
            select(stops)
            .where(stops.c.ends_at > at, stops.c.lifted_at.is_(None))
            .order_by(stops.c.created_at, stops.c.id)
        )
        if shown.companies:
            wanted = wanted.where(_concerning(shown.companies))
        rows, total = await page(self._database, wanted, shown.paging)
        return [read_stop(row) for row in rows], total

    async def reviews(self, shown: Shown) -> tuple[Sequence[Payout], int]:
        """Return a page of the payouts that wait for people, and how many do."""
        wanted = (
            select(payouts)
            .where(payouts.c.review)
            .order_by(payouts.c.created_at, payouts.c.account_id, payouts.c.reference_sha256)
        )
        if shown.companies:
            wanted = wanted.where(payouts.c.account_id.in_(_accounts_of(shown.companies)))
        rows, total = await page(self._database, wanted, shown.paging)
        return [restored_payout(row) for row in rows], total


def _accounts_of(wanted: frozenset[str]) -> Select[tuple[Any]]:
    return select(accounts.c.id).where(accounts.c.company_id.in_(wanted))


def _concerning(wanted: frozenset[str]) -> ColumnElement[bool]:
    """Choose the stops of these companies, and of whole providers: they concern everybody."""
    theirs = select(credentials.c.client_id).where(credentials.c.company_id.in_(wanted))
    subjects = {
        StopScope.COMPANY: stops.c.subject.in_(wanted),
        StopScope.ACCOUNT: stops.c.subject.in_(_accounts_of(wanted)),
        StopScope.CREDENTIAL: stops.c.subject.in_(theirs),
    }
    return or_(
        stops.c.scope == StopScope.PROVIDER.value,
        *(and_(stops.c.scope == scope.value, chosen) for scope, chosen in subjects.items()),
    )


def _within(wanted: frozenset[str]) -> ColumnElement[bool]:
    """Choose the people who see none but these companies: as many of these as they have ids."""
    among = (
        select(func.count())
        .select_from(companies)
        .where(companies.c.id.in_(wanted), users.c.companies.contains(companies.c.id))
        .scalar_subquery()
    )
    return and_(
        users.c.companies != "",
        func.length(users.c.companies) + 1 == among * _ID_AND_BLANK,
    )
