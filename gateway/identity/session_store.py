"""Sign-ins in the store, with their refresh tokens; and the keys that sign access tokens."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.audit import AuditEvent
from gateway.core.sessions import RefreshToken, Session, SigningKey
from gateway.core.user import User
from gateway.identity.user_store import read_user
from gateway.store.kernel.database import Database
from gateway.store.kernel.old_rows import Owned, delete_old
from gateway.store.tables.columns import Record, record_of, row_of
from gateway.store.tables.identity import refresh_tokens, sessions, signing_keys, users

_TOKENS = Owned(refresh_tokens.c.session_id, sessions.c.id)
_LIST = select(signing_keys).order_by(signing_keys.c.signs_from, signing_keys.c.id)


class StoredSigningKeys:
    """Keys that sign access tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: SigningKey, event: AuditEvent) -> None:
        """Store a new one."""
        async with self._database.writing() as connection:
            await connection.execute(insert(signing_keys), row_of(key))
            await audit_log.append(connection, event)

    async def list(self) -> Sequence[SigningKey]:
        """Return all, by ``signs_from``, retired ones included."""
        rows = await self._database.rows(_LIST)
        return [record_of(SigningKey, row) for row in rows]

    async def retire(self, key_id: str, at: datetime, event: AuditEvent) -> bool:
        """Stop publishing one; False when there is none or it is retired already."""
        retiring = (
            update(signing_keys)
            .where(signing_keys.c.id == key_id, signing_keys.c.retired_at.is_(None))
            .values(retired_at=at)
        )
        return await audit_log.change(self._database, retiring, event)


# "Last seen" is to the minute, so that reading does not become writing.
_MINUTE = timedelta(minutes=1)
_PREFIX = "session_"
_FIND = select(users, *(each.label(_PREFIX + each.name) for each in sessions.c)).where(
    sessions.c.id == bindparam("id"), users.c.id == sessions.c.user_id
)
_LIVE = (
    select(sessions)
    .where(sessions.c.user_id == bindparam("user_id"), sessions.c.ended_at.is_(None))
    .where(sessions.c.ends_at > bindparam("now", type_=sessions.c.ends_at.type))
    .order_by(sessions.c.created_at, sessions.c.id)
)
_TOKEN = select(refresh_tokens).where(refresh_tokens.c.digest == bindparam("digest"))
_LAST = select(func.coalesce(func.max(refresh_tokens.c.number), 0)).where(
    refresh_tokens.c.session_id == bindparam("session_id")
)


class _Lost(Exception):
    """Another request was first: this transaction is rolled back."""


class StoredSessions:
    """Sessions and their refresh tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, session: Session, first: RefreshToken, event: AuditEvent) -> None:
        """Store a sign-in with its first refresh token."""
        async with self._database.writing() as connection:
            await connection.execute(insert(sessions), row_of(session))
            await connection.execute(insert(refresh_tokens), row_of(first))
            await audit_log.append(connection, event)

    async def find(self, session_id: str) -> tuple[Session, User] | None:
        """Return one with its user, ended ones included; one read."""
        row = await self._database.first(_FIND, {"id": session_id})
        return None if row is None else (_session(row), read_user(row))

    async def of(self, user_id: str, now: datetime) -> Sequence[Session]:
        """Return the live ones of a user, oldest first."""
        rows = await self._database.rows(_LIVE, {"user_id": user_id, "now": now})
        return [record_of(Session, row) for row in rows]

    async def touch(self, session_id: str, at: datetime) -> None:
        """Remember that it was used, at most once a minute."""
        seen = (
            update(sessions)
            .where(sessions.c.id == session_id, sessions.c.seen_at <= at - _MINUTE)
            .values(seen_at=at)
        )
        await self._database.write(seen)

    async def note_factor(self, session_id: str, at: datetime | None) -> None:
        """Remember when a second factor was given; None for a factor that counts no longer."""
        given = update(sessions).where(sessions.c.id == session_id).values(factor_at=at)
        await self._database.write(given)

    async def refresh_token(self, digest: bytes) -> RefreshToken | None:
        """Return one, used ones included."""
        row = await self._database.first(_TOKEN, {"digest": digest})
        return None if row is None else record_of(RefreshToken, row)

    async def last_number(self, session_id: str) -> int:
        """Return the number of the newest refresh token; 0 when there is none."""
        [(number,)] = await self._database.rows(_LAST, {"session_id": session_id})
        return int(number)

    async def rotate(self, old: RefreshToken, new: RefreshToken, at: datetime) -> bool:
        """
        Use the old one up and store the new one, in one transaction.

        False when somebody else used it first, or its session has ended or ends
        before ``at``; nothing was changed.
        """
        with suppress(_Lost):
            async with self._database.writing() as connection:
                await _use(connection, old, at)
                await _see(connection, old.session_id, at)
                await connection.execute(insert(refresh_tokens), row_of(new))
            return True
        return False

    async def end(self, session_id: str, at: datetime, why: str, event: AuditEvent | None) -> bool:
        """End one; False when there is none or it has ended already."""
        ending = (
            update(sessions)
            .where(sessions.c.id == session_id, sessions.c.ended_at.is_(None))
            .values(ended_at=at, ended_by=why)
        )
        async with self._database.writing() as connection:
            if (await connection.execute(ending)).rowcount == 0:
                return False
            if event is not None:
                await audit_log.append(connection, event)
        return True

    async def end_all(
        self, user_id: str, at: datetime, why: str, keep: str, event: AuditEvent
    ) -> int:
        """End every live one of a user but ``keep`` (empty for none); return how many."""
        ending = (
            update(sessions)
            .where(sessions.c.user_id == user_id, sessions.c.ended_at.is_(None))
            .where(sessions.c.id != keep, sessions.c.ends_at > at)
            .values(ended_at=at, ended_by=why)
        )
        async with self._database.writing() as connection:
            ended = (await connection.execute(ending)).rowcount
            await audit_log.append(connection, event)
        return ended

    async def forget(self, before: datetime) -> int:
        """Delete what ended before an instant, with its tokens; return how many sessions."""
        forgotten = 0
        for end in (sessions.c.ends_at, sessions.c.ended_at):
            forgotten += await delete_old(self._database, end, before, owned=_TOKENS)
        return forgotten


async def _use(connection: AsyncConnection, token: RefreshToken, at: datetime) -> None:
    """Mark a refresh token as used; raise if it was used before."""
    using = (
        update(refresh_tokens)
        .where(refresh_tokens.c.digest == token.digest, refresh_tokens.c.used_at.is_(None))
        .values(used_at=at)
    )
    if (await connection.execute(using)).rowcount == 0:
        raise _Lost


async def _see(connection: AsyncConnection, session_id: str, at: datetime) -> None:
    """Note that a session is used; raise when it is over."""
    seen = (
        update(sessions)
        .where(sessions.c.id == session_id, sessions.c.ended_at.is_(None), sessions.c.ends_at > at)
        .values(seen_at=at)
    )
    if (await connection.execute(seen)).rowcount == 0:
        raise _Lost


def _session(row: Record) -> Session:
    """Read a sign-in from a row that holds its user too."""
    return Session(**{each.name: getattr(row, _PREFIX + each.name) for each in sessions.c})
