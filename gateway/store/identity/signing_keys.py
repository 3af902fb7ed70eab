"""Keys that sign access tokens, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import insert, select, update

from gateway.domain.identity.signing_keys import SigningKey
from gateway.domain.kernel.audit import AuditEvent
from gateway.store.audit import audit_log
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import record_of, row_of
from gateway.store.tables.identity import signing_keys

_LIST = select(signing_keys).order_by(signing_keys.c.signs_from, signing_keys.c.id)


class StoredSigningKeys:
    """``SigningKeys`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: SigningKey, event: AuditEvent) -> None:
        """Store a new one."""
        async with self._database.writing() as connection:
            await connection.execute(insert(signing_keys), row_of(key))
            await audit_log.append(connection, event)

    async def list(self) -> Sequence[SigningKey]:
        """Return all, by ``signs_from``, retired ones included."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(_LIST)).all()
        return [record_of(SigningKey, row) for row in rows]

    async def retire(self, key_id: str, at: datetime, event: AuditEvent) -> bool:
        """Stop publishing one; False when there is none or it is retired already."""
        retiring = (
            update(signing_keys)
            .where(signing_keys.c.id == key_id, signing_keys.c.retired_at.is_(None))
            .values(retired_at=at)
        )
        async with self._database.writing() as connection:
            if (await connection.execute(retiring)).rowcount == 0:
                return False
            await audit_log.append(connection, event)
        return True
