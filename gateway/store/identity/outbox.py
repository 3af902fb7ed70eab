"""Mail that waits to be sent, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, insert, select, update

from gateway.domain.identity.mail import Mail
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import record_of, row_of
from gateway.store.tables.identity import outbox, users
from gateway.store.tables.scope import limited_exactly

_WAITING = select(outbox).where(outbox.c.sent_at.is_(None)).order_by(outbox.c.created_at)
_LATEST = select(outbox).order_by(outbox.c.created_at.desc(), outbox.c.id)


class StoredOutbox:
    """``Outbox`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, mail: Mail) -> None:
        """Store a message."""
        async with self._database.writing() as connection:
            await connection.execute(insert(outbox), row_of(mail))

    async def waiting(self, most: int) -> Sequence[Mail]:
        """Return unsent ones, oldest first."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(_WAITING.limit(most))).all()
        return [record_of(Mail, row) for row in rows]

    async def sent(self, mail_id: str, at: datetime) -> None:
        """Note that one went out; its text is forgotten."""
        gone = update(outbox).where(outbox.c.id == mail_id).values(sent_at=at, text="")
        async with self._database.writing() as connection:
            await connection.execute(gone)

    async def latest(self, most: int, scope: CompanyScope) -> Sequence[Mail]:
        """Return the newest ones, newest first: mail to users within the scope."""
        wanted = _LATEST
        if not scope.everything:
            people = select(users.c.email).where(*limited_exactly(users.c.companies, scope))
            wanted = wanted.where(outbox.c.to.in_(people))
        async with self._database.reading() as connection:
            rows = (await connection.execute(wanted.limit(most))).all()
        return [record_of(Mail, row) for row in rows]

    async def forget(self, before: datetime) -> int:
        """Delete what was written before an instant, sent or not; return how many."""
        old = delete(outbox).where(outbox.c.created_at < before)
        async with self._database.writing() as connection:
            return (await connection.execute(old)).rowcount
