"""Notifications, choices and chats in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, delete, func, insert, or_, select, true, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.audit import AuditEvent
from gateway.core.company_scope import CompanyScope
from gateway.core.windows import Listed, Paging
from gateway.identity.model import Mail
from gateway.identity.store import StoredMailbox
from gateway.notifications.model import (
    DEFAULT,
    LOOKS_BACK,
    Chat,
    Choice,
    Kind,
    Notification,
    State,
    Way,
)
from gateway.notifications.schedule import TOGETHER
from gateway.security.sealing import Sealer
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.old_rows import delete_old
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.notifications import (
    WAITS,
    chats,
    notification_choices,
    notifications,
)
from gateway.store.tables.scope import of_company

KEPT: Final = 2 * LOOKS_BACK
"""What was sent once is not written again, as long as its occasion may be told."""
CLAIM: Final = timedelta(seconds=60)
"""Some times as long as a call may take."""
_AHEAD: Final = timedelta(minutes=5)
"""Claims that end later were made before a clock was put back, and hold nothing."""
_WRITTEN_BEFORE: Final = timedelta(days=2)
"""Of what is sent: a notification waits for the next evening at most; by an index."""
_AT_ONCE: Final = 500
Topic = tuple[str, Way, Kind]
"""A kind that a recipient is told of by a way: recipient, way, kind."""
_N: Final = notifications.c
_CHOICES: Final = notification_choices.c


class _Lost(Exception):
    """Another process was first; the transaction is undone."""


class NotificationRecords:
    """Notifications on their way; ``StoreUnavailable`` when the store does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, found: Sequence[Notification]) -> None:
        """Store notifications; one that was ever stored for its recipient and way is left out."""
        statement = self._database.insert_new(notifications)
        for start in range(0, len(found), _AT_ONCE):
            rows = [row_of(each) for each in found[start : start + _AT_ONCE]]
            await self._database.write(statement, rows)

    async def last_due(self, now: datetime) -> Mapping[Topic, datetime]:
        """Return the latest due time near now, by recipient, way and kind."""
        about_now = _N.due_at > now - TOGETHER, _N.due_at <= now + TOGETHER
        counts = _N.state.in_([State.WAITING.value, State.SENT.value])
        wanted = (
            select(_N.recipient, _N.way, _N.kind, func.max(_N.due_at).label("at"))
            .where(_N.created_at > now - _WRITTEN_BEFORE, *about_now, counts)
            .group_by(_N.recipient, _N.way, _N.kind)
        )
        rows = await self._database.rows(wanted)
        return {(row.recipient, Way(row.way), Kind(row.kind)): row.at for row in rows}

    async def due(self, way: Way, now: datetime) -> Sequence[Notification]:
        """Return notifications that are due and free, the oldest first."""
        wanted = (
            select(notifications)
            .where(WAITS, _N.way == way.value, _N.due_at <= now, _free(now))
            .order_by(_N.due_at, _N.created_at, _N.id)
            .limit(_AT_ONCE)
        )
        return [from_row(row, Notification) for row in await self._database.rows(wanted)]

    async def mail(
        self, mailbox: StoredMailbox, mail: Mail, sent: Sequence[Notification], event: AuditEvent
    ) -> bool:
        """
        Put a mail into the mailbox, once: with the end of its notifications, in one transaction.

        Returns:
            False when another process was first with one of them; nothing was done.
        """
        try:
            async with self._database.writing() as connection:
                await _end_all(connection, sent)
                await mailbox.add(connection, mail)
                await audit_log.append(connection, event)
        except _Lost:
            return False
        return True

    async def drop(self, gone: Sequence[Notification]) -> None:
        """End notifications whose occasion no longer holds, or is no longer wanted."""
        if gone:
            async with self._database.writing() as connection:
                await _end(connection, gone, State.DROPPED)

    async def claim(self, wanted: Sequence[Notification], now: datetime) -> Sequence[Notification]:
        """Claim notifications for a call, without those that another process was first with."""
        claiming = (
            update(notifications)
            .where(_N.id.in_([each.id for each in wanted]), WAITS, _free(now))
            .values(claimed_until=now + CLAIM)
            .returning(notifications)
        )
        async with self._database.writing() as connection:
            rows = (await connection.execute(claiming)).all()
        return [from_row(row, Notification) for row in rows]

    async def finish(
        self, claimed: Sequence[Notification], state: State, event: AuditEvent | None
    ) -> None:
        """End claimed notifications after a call, with the audit event of a message."""
        async with self._database.writing() as connection:
            if await _end(connection, claimed, state) and event is not None:
                await audit_log.append(connection, event)

    async def try_later(self, claimed: Sequence[Notification], at: datetime) -> None:
        """Give claimed notifications up until an instant."""
        later = (
            update(notifications)
            .where(_N.id.in_([each.id for each in claimed]), WAITS)
            .values(due_at=at, tries=_N.tries + 1, claimed_until=None)
        )
        await self._database.write(later)

    async def oldest_due(self, now: datetime) -> datetime | None:
        """Return since when the first notification is due; None where none is."""
        row = await self._database.first(
            select(func.min(_N.due_at).label("at")).where(WAITS, _N.due_at <= now)
        )
        return None if row is None else row.at

    async def forget(self, before: datetime) -> int:
        """Delete notifications that were written before an instant; return the number."""
        return await delete_old(self._database, _N.created_at, before)


class ChoiceRecords:
    """Stored choices of notifications."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def every(self) -> Mapping[str, Choice]:
        """Return the choices that were made, by user id; of all others the default holds."""
        rows = await self._database.rows(select(notification_choices))
        return {row.user_id: from_row(row, Choice) for row in rows}

    async def of(self, user_id: str) -> Choice:
        """Return a person's choice."""
        wanted = select(notification_choices).where(_CHOICES.user_id == user_id)
        row = await self._database.first(wanted)
        return DEFAULT if row is None else from_row(row, Choice)

    async def put(self, user_id: str, choice: Choice, event: AuditEvent) -> None:
        """Store a person's choice."""
        values = row_of(choice)
        async with self._database.writing() as connection:
            row = {"user_id": user_id, **values}
            await self._database.put(connection, notification_choices, row, values, true())
            await audit_log.append(connection, event)


class ChatRecords:
    """Chats; their addresses are encrypted."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        self._database = database
        self._sealer = sealer

    async def every(self) -> Sequence[Chat]:
        """Return the chats of all companies, for our own task."""
        rows = await self._database.rows(select(chats))
        return [from_row(row, Chat) for row in rows]

    async def visible(self, scope: CompanyScope) -> Sequence[Chat]:
        """Return the chats of companies in scope, oldest first."""
        own = of_company(chats.c.company_id, scope)
        wanted = select(chats).where(*own).order_by(chats.c.created_at, chats.c.id)
        return [from_row(row, Chat) for row in await self._database.rows(wanted)]

    async def page(
        self, scope: CompanyScope, company_id: str | None, paging: Paging
    ) -> Listed[Chat]:
        """Return a page of the chats of companies in scope, or of one of them, oldest first."""
        own = [*of_company(chats.c.company_id, scope)]
        if company_id is not None:
            own.append(chats.c.company_id == company_id)
        wanted = select(chats).where(*own).order_by(chats.c.created_at, chats.c.id)
        return await page(self._database, wanted, paging, lambda row: from_row(row, Chat))

    async def url(self, chat: Chat) -> str | None:
        """
        Return a chat's address; None when the chat is gone.

        Raises:
            SealBroken: it is sealed under a key that is not here.
        """
        row = await self._database.first(select(chats.c.sealed_url).where(chats.c.id == chat.id))
        return None if row is None else self._sealer.open(row.sealed_url, chat.recipient)

    async def add(self, chat: Chat, url: str, most: int, event: AuditEvent) -> bool:
        """Store a chat; False when its company has as many as it may."""
        own = (
            chats.c.company_id.is_(None)
            if chat.company_id is None
            else chats.c.company_id == chat.company_id
        )
        counted = select(func.count()).select_from(chats).where(own)
        row = {**row_of(chat), "sealed_url": self._sealer.seal(url, chat.recipient)}
        async with self._database.writing() as connection:
            if (await connection.execute(counted)).scalar_one() >= most:
                return False
            await connection.execute(insert(chats), row)
            await audit_log.append(connection, event)
        return True

    async def remove(self, chat_id: str, scope: CompanyScope, event: AuditEvent) -> bool:
        """Delete a chat of a company in scope; False when there is none."""
        own = (chats.c.id == chat_id, *of_company(chats.c.company_id, scope))
        return await audit_log.change(self._database, delete(chats).where(*own), event)

    async def note(self, chat: Chat, at: datetime, *, is_ok: bool) -> None:
        """Note that a chat took a message, or since when it takes none."""
        noting = update(chats).where(chats.c.id == chat.id)
        if is_ok:
            await self._database.write(noting.values(last_ok_at=at, failing_since=None))
        else:
            first = noting.where(chats.c.failing_since.is_(None))
            await self._database.write(first.values(failing_since=at))


async def _end(connection: AsyncConnection, ended: Sequence[Notification], state: State) -> bool:
    """End waiting notifications; False where one of them waits no more."""
    ids = [each.id for each in ended]
    change = (
        update(notifications)
        .where(_N.id.in_(ids), WAITS)
        .values(state=state.value, claimed_until=None)
    )
    return (await connection.execute(change)).rowcount == len(ids)


async def _end_all(connection: AsyncConnection, sent: Sequence[Notification]) -> None:
    """End notifications that are sent; _Lost where one of them waits no more."""
    if not await _end(connection, sent, State.SENT):
        raise _Lost


def _free(now: datetime) -> ColumnElement[bool]:
    return or_(_N.claimed_until.is_(None), _N.claimed_until <= now, _N.claimed_until > now + _AHEAD)
