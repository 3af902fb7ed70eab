"""The audit log as users read it; ``audit`` writes it and proves it whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, select

from gateway.domain.backoffice.audit_record import AuditEntry, AuditSearch
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.store.audit.audit_log import StoredAudit
from gateway.store.audit.walk import event_of
from gateway.store.kernel.database import Database
from gateway.store.kernel.pages import page
from gateway.store.tables.columns import Record
from gateway.store.tables.core import audit
from gateway.store.tables.scope import limited_exactly

_NEWEST = select(audit).order_by(audit.c.number.desc())


class StoredAuditRecord:
    """``AuditRecord`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_acts(
        self, search: AuditSearch, scope: CompanyScope
    ) -> tuple[Sequence[AuditEntry], int]:
        """Return a page, newest first, and how many there are."""
        rows, total = await page(self._database, _matching(search, scope), search.paging)
        return [_entry(row) for row in rows], total

    async def after(self, number: int, most: int, scope: CompanyScope) -> Sequence[AuditEntry]:
        """Return what follows ``number``, in the order of the chain; limited to a scope."""
        following = select(audit).where(audit.c.number > number).order_by(audit.c.number)
        following = following.where(*limited_exactly(audit.c.companies, scope))
        async with self._database.reading() as connection:
            return [_entry(row) for row in (await connection.execute(following.limit(most))).all()]

    async def verify(self) -> int:
        """Walk the chain; return its length. ValueError names the first broken link."""
        return await StoredAudit(self._database).verify()


def _matching(search: AuditSearch, scope: CompanyScope) -> Select[*tuple[Any, ...]]:
    """Select what a search asks for."""
    wanted = _NEWEST
    if search.since is not None:
        wanted = wanted.where(audit.c.at >= search.since)
    if search.until is not None:
        wanted = wanted.where(audit.c.at < search.until)
    if search.trace_id is not None:
        wanted = wanted.where(audit.c.trace_id == search.trace_id)
    wanted = wanted.where(*limited_exactly(audit.c.companies, scope))
    for column, value in (
        (audit.c.actor, search.actor),
        (audit.c.action, search.action),
        (audit.c.subject, search.subject),
    ):
        if value is not None and value.endswith("*"):
            wanted = wanted.where(column.startswith(value[:-1], autoescape=True))
        elif value is not None:
            wanted = wanted.where(column == value)
    return wanted


def _entry(row: Record) -> AuditEntry:
    return AuditEntry(row.number, event_of(row), row.hash)
