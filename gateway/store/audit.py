"""
The record of acts: append-only, each event chained to the one before by its hash.

Hash n is SHA-256 over hash n-1 and event n as JSON with sorted keys; hash 0 is 32 zero bytes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import UTC

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.changes import Act
from gateway.domain.stores import AuditEvent
from gateway.store import columns
from gateway.store.audit_companies import companies_of
from gateway.store.columns import Record
from gateway.store.database import Database, note
from gateway.store.tables import audit, audit_head

_NO_HASH = bytes(32)
_BATCH = 1000

_LOCKED_HEAD = select(audit_head.c.number, audit_head.c.hash).with_for_update()
_HEAD = select(
    audit_head.c.number,
    audit_head.c.hash,
    select(func.coalesce(func.max(audit.c.number), 0)).scalar_subquery().label("last"),
)
_NEXT = (
    select(audit)
    .where(audit.c.number > bindparam("after"), audit.c.number <= bindparam("last"))
    .order_by(audit.c.number)
    .limit(bindparam("batch"))
)


class StoredAudit:
    """``Audit`` over a database."""

    def __init__(self, database: Database, batch: int = _BATCH, pause_s: float = 0.0) -> None:
        """Walk the chain ``batch`` events at a time, and pause between them for the others."""
        self._database = database
        self._batch = batch
        self._pause_s = pause_s

    async def append(self, event: AuditEvent) -> None:
        """Add one event."""
        async with self._database.writing() as connection:
            await append(connection, event)

    async def verify(self) -> int:
        """
        Walk the chain as it is now; return its length.

        Raises:
            ValueError: names the first broken link: an event changed, missing,
                added past the end, or cut off at it.
        """
        async with self._database.reading() as connection:
            head = (await connection.execute(_HEAD)).one_or_none()
        if head is None:
            raise _broken(0)
        number, reached = 0, _NO_HASH
        while number < head.number:
            rows = await self._after(number, head.number)
            if not rows:
                raise _broken(number + 1)
            for row in rows:
                number, reached = number + 1, _followed(number + 1, reached, row)
            await asyncio.sleep(self._pause_s)
        if head.last != head.number or reached != head.hash:
            raise _broken(number + 1)
        return number

    async def _after(self, number: int, last: int) -> list[Record]:
        wanted = {"after": number, "last": last, "batch": self._batch}
        async with self._database.reading() as connection:
            return list((await connection.execute(_NEXT, wanted)).all())


async def append(connection: AsyncConnection, event: AuditEvent) -> None:
    """
    Add one event in the caller's transaction.

    Last in it, please: from here to the commit every other writer of events
    waits. So numbers become visible in order, which whoever follows the log
    relies on; this process is told when the transaction ends.
    """
    note(connection, Act(event.action, event.subject))
    companies = await companies_of(connection, event)
    head = (await connection.execute(_LOCKED_HEAD)).one()
    number = head.number + 1
    reached = chained(head.hash, number, event)
    row = {
        "number": number,
        "at": event.at,
        "actor": event.actor,
        "action": event.action,
        "subject": event.subject,
        "details": columns.written(event.details),
        "trace_id": event.trace_id,
        "hash": reached,
        "companies": companies,
    }
    await connection.execute(insert(audit), row)
    await connection.execute(update(audit_head).values(number=number, hash=reached))


def chained(previous: bytes, number: int, event: AuditEvent) -> bytes:
    """Return the hash of event ``number``, which follows the one hashed ``previous``."""
    fields = {
        "number": number,
        "at": event.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": event.actor,
        "action": event.action,
        "subject": event.subject,
        "details": dict(event.details),
        "trace_id": event.trace_id,
    }
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(previous + canonical.encode()).digest()


def _followed(number: int, previous: bytes, row: Record) -> bytes:
    """Return the hash of a row if it is what it must be, else raise."""
    try:
        expected = chained(previous, row.number, event_of(row))
    except ValueError as problem:
        raise _broken(number) from problem
    if row.number != number or row.hash != expected:
        raise _broken(number)
    return expected


def event_of(row: Record) -> AuditEvent:
    """Read an event back."""
    return AuditEvent(
        at=row.at,
        actor=row.actor,
        action=row.action,
        subject=row.subject,
        details=columns.read(row.details),
        trace_id=row.trace_id,
        companies=frozenset(row.companies.split()),
    )


def _broken(number: int) -> ValueError:
    return ValueError(f"the audit log is broken at event {number}")
