"""Served requests, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, insert, select

from gateway.domain.backoffice.request_log import LoggedRequest, RequestSearch
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.store.kernel.database import Database
from gateway.store.kernel.pages import page
from gateway.store.tables.backoffice import requests
from gateway.store.tables.columns import record_of, row_of
from gateway.store.tables.scope import of_company

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
