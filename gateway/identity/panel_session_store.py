"""What browsers' cookies stand for, in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, bindparam, delete, func, insert, or_, select, update

from gateway.core.browsers import PanelSession, PanelState
from gateway.store.kernel.database import Database
from gateway.store.kernel.old_rows import delete_old
from gateway.store.tables.columns import Record, record_of, row_of
from gateway.store.tables.identity import panel_sessions, sessions

_FIND = select(panel_sessions).where(panel_sessions.c.id_hash == bindparam("id_hash"))
_OF = (
    select(panel_sessions)
    .where(panel_sessions.c.user_id == bindparam("user_id"))
    .order_by(panel_sessions.c.created_at, panel_sessions.c.id_hash)
)
_NOW = bindparam("now", type_=panel_sessions.c.ends_at.type)
_PENDING = select(func.count()).where(
    panel_sessions.c.state == PanelState.MFA_PENDING.value, panel_sessions.c.ends_at > _NOW
)
# For half a minute a replaced cookie's row lies beside its follower, of the same sign-in.
_FULL = (
    select(func.count(sessions.c.id.distinct()))
    .where(panel_sessions.c.state == PanelState.FULL.value, panel_sessions.c.ends_at > _NOW)
    .where(panel_sessions.c.seen_at > bindparam("idle_since", type_=panel_sessions.c.seen_at.type))
    .where(sessions.c.id == panel_sessions.c.session_id)
    .where(sessions.c.ended_at.is_(None), sessions.c.ends_at > _NOW)
)
_LIVE = select(_FULL.scalar_subquery().label("full"), _PENDING.scalar_subquery().label("pending"))


class _Gone(Exception):
    """The row to be replaced is not there: nothing is done."""


class StoredPanelSessions:
    """Sessions of browsers, by the digests of their cookies."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, panel: PanelSession) -> None:
        """Store a new one."""
        await self._database.write(insert(panel_sessions), _row(panel))

    async def find(self, id_hash: str) -> PanelSession | None:
        """Return one."""
        row = await self._database.first(_FIND, {"id_hash": id_hash})
        return None if row is None else _read(row)

    async def replace(self, old_hash: str, new: PanelSession) -> bool:
        """Put one with a new id in an old one's place; False when the old one was gone."""
        removing = delete(panel_sessions).where(panel_sessions.c.id_hash == old_hash)
        with suppress(_Gone):
            async with self._database.writing() as connection:
                if (await connection.execute(removing)).rowcount == 0:
                    raise _Gone
                await connection.execute(insert(panel_sessions), _row(new))
            return True
        return False

    async def supersede(self, old: PanelSession, new: PanelSession, now: datetime) -> bool:
        """
        Store a new one beside an old one, which is stored as it is now, its version raised.

        False, and nothing is stored, when the old one's version has moved, or its tokens are
        being refreshed.
        """
        changing = (
            update(panel_sessions)
            .where(panel_sessions.c.id_hash == old.id_hash)
            .where(panel_sessions.c.version == old.version, _free(now))
            .values(_row(old) | {"version": old.version + 1, "lease_until": None})
        )
        with suppress(_Gone):
            async with self._database.writing() as connection:
                if (await connection.execute(changing)).rowcount == 0:
                    raise _Gone
                await connection.execute(insert(panel_sessions), _row(new))
            return True
        return False

    async def note_delivery(self, id_hash: str) -> None:
        """Remember that the browser has this cookie."""
        delivered = (
            update(panel_sessions).where(panel_sessions.c.id_hash == id_hash).values(delivered=True)
        )
        await self._database.write(delivered)

    async def touch(self, id_hash: str, at: datetime) -> None:
        """Slide the idle time."""
        seen = (
            update(panel_sessions)
            .where(panel_sessions.c.id_hash == id_hash, panel_sessions.c.seen_at < at)
            .values(seen_at=at)
        )
        await self._database.write(seen)

    async def lease(self, id_hash: str, version: int, now: datetime, until: datetime) -> bool:
        """Take the right to refresh; False when it is taken or the version has moved."""
        taking = (
            update(panel_sessions)
            .where(panel_sessions.c.id_hash == id_hash)
            .where(panel_sessions.c.version == version, _free(now))
            .values(lease_until=until)
        )
        return await self._database.write(taking) == 1

    async def save(self, panel: PanelSession, version: int) -> bool:
        """Store new tokens over ``version``, raise it and end the lease; False when it moved."""
        saving = (
            update(panel_sessions)
            .where(panel_sessions.c.id_hash == panel.id_hash, panel_sessions.c.version == version)
            .values(_row(panel) | {"version": version + 1, "lease_until": None})
        )
        return await self._database.write(saving) == 1

    async def remove(self, id_hash: str) -> bool:
        """Delete one; False when there was none."""
        removing = delete(panel_sessions).where(panel_sessions.c.id_hash == id_hash)
        return await self._database.write(removing) == 1

    async def of(self, user_id: str) -> Sequence[PanelSession]:
        """Return those of a user, oldest first."""
        rows = await self._database.rows(_OF, {"user_id": user_id})
        return [_read(row) for row in rows]

    async def live(self, idle_since: datetime, now: datetime) -> Mapping[PanelState, int]:
        """
        Count the browsers of every state but ANONYMOUS.

        Signed in counts one whose sign-in has not ended and which was heard of
        after ``idle_since``; one whose cookie has just been replaced is one.
        """
        instants = {"idle_since": idle_since, "now": now}
        [row] = await self._database.rows(_LIVE, instants)
        return {PanelState.FULL: row.full, PanelState.MFA_PENDING: row.pending}

    async def forget(self, idle_since: datetime, now: datetime) -> int:
        """Delete what was idle for too long or is over; return how many."""
        idle = await delete_old(self._database, panel_sessions.c.seen_at, idle_since)
        after = now + timedelta(microseconds=1)  # the least there is: what ends now is over
        return idle + await delete_old(self._database, panel_sessions.c.ends_at, after)


def _free(now: datetime) -> ColumnElement[bool]:
    """Nobody refreshes the tokens."""
    return or_(panel_sessions.c.lease_until.is_(None), panel_sessions.c.lease_until <= now)


def _row(panel: PanelSession) -> dict[str, object]:
    return row_of(panel) | {"state": panel.state.value}


def _read(row: Record) -> PanelSession:
    return record_of(PanelSession, row, {"state": PanelState})
