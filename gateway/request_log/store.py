"""The log of served requests in the store: searched, counted, grouped by refusal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any

from sqlalchemy import ColumnElement, Insert, Select, TextClause, and_, func, insert, or_, select

from gateway.core.company_scope import CompanyScope
from gateway.core.windows import Listed
from gateway.payouts.documents import Orderer
from gateway.request_log.model import (
    COUNTED_AT_MOST,
    Cursor,
    LoggedRequest,
    RefusalGroup,
    RequestSearch,
)
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.old_rows import delete_old
from gateway.store.kernel.partitions import REQUESTS
from gateway.store.kernel.prepared import BulkParameters
from gateway.store.kernel.structs import from_row
from gateway.store.tables.backoffice import OF_ACCOUNT, OF_COMPANY, OF_CREDENTIAL, REFUSED, requests
from gateway.store.tables.columns import record_of, row_of
from gateway.store.tables.identity import users
from gateway.store.tables.scope import of_company

_read = partial(record_of, LoggedRequest)
_NEWEST = select(requests).order_by(requests.c.at.desc(), requests.c.number.desc())
_PAGES = "panel_pages"
_REFUSED_FROM = 400
_CLASS = 100
"""Statuses of a class."""


class RequestRecords:
    """Served requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, logged: Sequence[LoggedRequest]) -> None:
        """Store some requests."""
        if not logged:
            return
        rows = [row_of(each) for each in logged]
        for row in rows:
            del row["number"]  # the database counts
        add, bulk = _addition(self._database.bulk), self._database.bulk
        await self._database.write(add, bulk.bind(rows))

    async def search(self, search: RequestSearch, scope: CompanyScope) -> Listed[LoggedRequest]:
        """Return a page, newest first, of a list counted up to ``COUNTED_AT_MOST``."""
        wanted = _NEWEST.where(*_conditions(search, scope))
        return await page(self._database, wanted, search.paging, _read, COUNTED_AT_MOST)

    async def export(
        self, search: RequestSearch, scope: CompanyScope, most: int
    ) -> Sequence[LoggedRequest]:
        """Return the first ``most``, newest first, without paging."""
        wanted = _NEWEST.where(*_conditions(search, scope)).limit(most)
        found = await self._database.rows(wanted)
        return [_read(row) for row in found]

    async def people(self, ids: Collection[str]) -> Sequence[Orderer]:
        """Return the users' names, unordered; deleted users are left out."""
        wanted = select(users.c.id, users.c.name, users.c.email).where(users.c.id.in_(ids))
        rows = await self._database.rows(wanted) if ids else ()
        return [Orderer(row.id, row.name, row.email) for row in rows]

    async def summary(
        self, search: RequestSearch, scope: CompanyScope, most: int
    ) -> Sequence[RefusalGroup]:
        """Return refusals by code, reason and credential; the most frequent ``most`` of them."""
        wanted = _grouped().where(REFUSED, *_conditions(search, scope)).limit(most)
        found = await self._database.rows(wanted)
        return [from_row(row, RefusalGroup) for row in found]

    async def forget(self, before: datetime) -> int:
        """Delete older lines; return how many lines, or days on PostgreSQL."""
        if self._database.writer.dialect.name == "postgresql":
            return await REQUESTS.renew(self._database, before)
        return await delete_old(self._database, requests.c.at, before)


@cache
def _addition(bulk: BulkParameters) -> Insert:
    types = {each.name: each.type for each in requests.c if each.name != "number"}
    return bulk.insert_rows(insert(requests), types)


def _grouped() -> Select[*tuple[Any, ...]]:
    """Group by code, reason and credential, the most frequent first."""
    groups = (requests.c.code, requests.c.reason, requests.c.client_id)
    # a group has a column of this name, and SQLAlchemy's rows a method
    count = func.count().label("count")
    instants = (
        func.min(requests.c.at, type_=requests.c.at.type).label("first_at"),
        func.max(requests.c.at, type_=requests.c.at.type).label("last_at"),
    )
    return (
        select(*groups, count, *instants).group_by(*groups).order_by(func.count().desc(), *groups)
    )


def _conditions(
    search: RequestSearch, scope: CompanyScope
) -> Iterable[ColumnElement[bool] | TextClause]:
    """Return the SQL conditions of a search; partial indexes need their own conditions."""
    yield from _times(search)
    yield from _texts(search)
    if search.route_text is not None:
        yield requests.c.route.contains(search.route_text, autoescape=True)
    if search.status is not None:
        yield requests.c.status == search.status
    if search.status_class is not None:
        first = search.status_class * _CLASS
        yield requests.c.status.between(first, first + _CLASS - 1)
    if search.slower_ms is not None:
        yield requests.c.duration_us >= search.slower_ms * 1000
    if not search.pages:
        yield or_(
            requests.c.surface != _PAGES,
            requests.c.method != "GET",
            requests.c.status >= _REFUSED_FROM,
        )
    if search.before is not None:
        yield _behind(search.before)
    if scope.companies is not None:
        yield OF_COMPANY
        yield from of_company(requests.c.company_id, scope)


def _times(search: RequestSearch) -> Iterable[ColumnElement[bool]]:
    """
    Return the SQL conditions on times.

    All times are none: PostgreSQL takes the newest rows, which it has not counted yet, for so few
    that it would look through every one.
    """
    if search.since is not None:
        yield requests.c.at >= search.since
    if search.until is not None:
        yield requests.c.at < search.until


def _texts(search: RequestSearch) -> Iterable[ColumnElement[bool] | TextClause]:
    """Return the SQL conditions on exact texts."""
    for column, value, indexed in (
        (requests.c.trace_id, search.trace_id, None),
        (requests.c.route, search.route, None),
        (requests.c.method, search.method, None),
        (requests.c.code, search.code, REFUSED),
        (requests.c.reason, search.reason, None),
        (requests.c.client_id, search.client_id, OF_CREDENTIAL),
        (requests.c.account_id, search.account_id, OF_ACCOUNT),
        (requests.c.user_id, search.user_id, None),
    ):
        if value is not None:
            yield column == value
            if indexed is not None:
                yield indexed


def _behind(cursor: Cursor) -> ColumnElement[bool]:
    """Return the SQL condition for requests older than one; its first half allows an index."""
    older = or_(
        requests.c.at < cursor.at,
        and_(requests.c.at == cursor.at, requests.c.number < cursor.number),
    )
    return and_(requests.c.at <= cursor.at, older)
