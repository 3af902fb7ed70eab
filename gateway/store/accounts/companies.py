"""Companies in the store."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from gateway.domain.accounts.accounts import Company
from gateway.domain.kernel.audit import AuditEvent
from gateway.domain.kernel.storage import AlreadyExists
from gateway.store.audit import audit_log
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import companies

_FIND = select(companies).where(companies.c.id == bindparam("company_id"))
_LIST = select(companies).order_by(companies.c.created_at, companies.c.id)


class StoredCompanies:
    """``Companies`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, company: Company, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when the id is taken."""
        row = {"id": company.id, "name": company.name, "created_at": company.created_at}
        async with self._database.writing() as connection:
            if not await self._database.add(connection, companies, row):
                raise AlreadyExists(company.id)
            await audit_log.append(connection, event)

    async def find(self, company_id: str) -> Company | None:
        """Return one by id."""
        async with self._database.reading() as connection:
            found = await connection.execute(_FIND, {"company_id": company_id})
            row = found.first()
        return None if row is None else read_company(row)

    async def list(self) -> Sequence[Company]:
        """Return all, oldest first."""
        async with self._database.reading() as connection:
            return [read_company(row) for row in await connection.execute(_LIST)]


def read_company(row: Record) -> Company:
    """Read a company from the columns of ``companies``."""
    return Company(id=row.id, name=row.name, created_at=row.created_at)
