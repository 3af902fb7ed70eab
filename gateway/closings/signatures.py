"""Stored signatures of days: each with the figures that were shown, and in the audit log."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from typing import Final

from msgspec.structs import replace
from sqlalchemy import Update, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.closings.model import Closing
from gateway.core.access import Staff
from gateway.core.audit import AuditEvent
from gateway.payouts.documents import Orderer
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import day_closings
from gateway.store.tables.identity import users

SIGNED: Final = "closing.signed"
LOCKED: Final = "closing.locked"
_KEPT: Final = day_closings.c
_USER: Final = "user:"


async def sign(database: Database, connection: AsyncConnection, made: Closing) -> bool:
    """
    Store a signature, or replace one on other figures; False where the day needs none.

    A locked day, and one that is signed with these figures, stays as it is.
    """
    row = row_of(made)
    signed_anew = (
        update(day_closings)
        .where(
            _KEPT.account_id == made.account_id,
            _KEPT.day == made.day,
            _KEPT.digest != made.digest,
            _KEPT.locked_at.is_(None),
        )
        .values(**row)
    )
    if await database.add(connection, day_closings, row):
        return True
    return bool((await connection.execute(signed_anew)).rowcount)


def locking(who: Staff, account_id: str, day: date, digest: str) -> Update:
    """Return the statement that locks a day with these figures which another user has signed."""
    actor, now = who.acting.actor, who.acting.now()
    return (
        update(day_closings)
        .where(
            _KEPT.account_id == account_id,
            _KEPT.day == day,
            _KEPT.digest == digest,
            _KEPT.signed_by != actor,
            _KEPT.locked_at.is_(None),
        )
        .values(locked_by=actor, locked_at=now)
    )


def locked(made: Closing) -> Closing:
    """Return a signed day as its first signature locks it."""
    return replace(made, locked_by=made.signed_by, locked_at=made.signed_at)


def events_of(who: Staff, made: Closing) -> Sequence[AuditEvent]:
    """Return the audit events of a signature, which may lock the day too."""
    details = {"day": made.day.isoformat(), "differences": str(made.differences)}
    signed = who.acting.event(SIGNED, f"account:{made.account_id}", details)
    if made.locked_at is None:
        return [signed]
    return [signed, locked_event(who, made.account_id, made.day)]


def locked_event(who: Staff, account_id: str, day: date) -> AuditEvent:
    """Return the audit event of a lock."""
    return who.acting.event(LOCKED, f"account:{account_id}", {"day": day.isoformat()})


async def people(database: Database, actors: Collection[str]) -> Sequence[Orderer]:
    """Return the users among actors of the audit log, unordered; deleted users are left out."""
    addresses = [each.removeprefix(_USER) for each in actors if each.startswith(_USER)]
    wanted = select(users.c.id, users.c.name, users.c.email).where(users.c.email.in_(addresses))
    rows = await database.rows(wanted) if addresses else ()
    return [Orderer(row.id, row.name, row.email) for row in rows]
