"""Kill switches in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, select, update

from gateway.domain.kernel.audit import AuditEvent
from gateway.domain.kernel.storage import AlreadyExists
from gateway.domain.payouts.stops import Stop, StopScope
from gateway.store.audit import audit_log
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import stops

_ACTIVE = (
    select(stops)
    .where(stops.c.ends_at > bindparam("at", type_=stops.c.ends_at.type))
    .where(stops.c.lifted_at.is_(None))
    .order_by(stops.c.created_at)
)


class StoredStops:
    """``Stops`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, stop: Stop, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when the id is taken."""
        row = {
            "id": stop.id,
            "scope": stop.scope.value,
            "subject": stop.subject,
            "reason": stop.reason,
            "created_by": stop.created_by,
            "created_at": stop.created_at,
            "ends_at": stop.ends_at,
            "lifted_at": stop.lifted_at,
        }
        async with self._database.writing() as connection:
            if not await self._database.add(connection, stops, row):
                raise AlreadyExists(stop.id)
            await audit_log.append(connection, event)

    async def lift(self, stop_id: str, at: datetime, event: AuditEvent) -> bool:
        """End one now; False when there is none or it has ended already."""
        lifted = (
            update(stops)
            .where(stops.c.id == stop_id, stops.c.lifted_at.is_(None), stops.c.ends_at > at)
            .values(lifted_at=at)
        )
        async with self._database.writing() as connection:
            if (await connection.execute(lifted)).rowcount == 0:
                return False
            await audit_log.append(connection, event)
        return True

    async def active(self, at: datetime) -> Sequence[Stop]:
        """Return those that hold at an instant, oldest first."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(_ACTIVE, {"at": at})).all()
        return [read_stop(row) for row in rows]


def read_stop(row: Record) -> Stop:
    """Read a stop from the columns of ``stops``."""
    return Stop(
        id=row.id,
        scope=StopScope(row.scope),
        subject=row.subject,
        reason=row.reason,
        created_by=row.created_by,
        created_at=row.created_at,
        ends_at=row.ends_at,
        lifted_at=row.lifted_at,
    )
