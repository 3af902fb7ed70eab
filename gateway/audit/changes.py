"""
The audit log as a change feed for caches.

An event's number is taken under the lock of the log's head and in the change's own transaction, so
numbers become visible in order: a reader who has reached a number has missed no earlier event. Read
from the database that writes, never from a replica.
"""

from __future__ import annotations

from sqlalchemy import bindparam, select

from gateway.core.change_feed import Act, Mark, News
from gateway.store.kernel.database import Database
from gateway.store.tables.core import audit

_MOST = 1000
"""Events read at once: about 2 ms of work, then others' requests."""
_START = Mark(0, b"")
_NEWEST_LINK = select(audit.c.number, audit.c.hash).order_by(audit.c.number.desc()).limit(1)
_FROM = (
    select(audit.c.number, audit.c.hash, audit.c.action, audit.c.subject)
    .where(audit.c.number >= bindparam("number"))
    .order_by(audit.c.number)
    .limit(bindparam("most"))
)


class Changes:
    """The audit log as a change feed."""

    def __init__(self, database: Database, most: int = _MOST) -> None:
        self._database = database
        self._most = most

    async def read(self, mark: Mark | None) -> News | None:
        """
        Return the acts after a mark, oldest first; without a mark, only the newest position.

        None when the mark is not in the log: the store was restored to an earlier state, or is
        another store.
        """
        if mark is None:
            return News((), await self._newest(), is_all=True)
        # the event at the mark is read again: that it is still the same one proves the place
        wanted = {"number": mark.number, "most": self._most + 1}
        rows = await self._database.rows(_FROM, wanted)
        if mark != _START:
            if not rows or (rows[0].number, rows[0].hash) != (mark.number, mark.hash):
                return None
            rows = rows[1:]
        rows = rows[: self._most]
        last = Mark(rows[-1].number, rows[-1].hash) if rows else mark
        return News([Act(row.action, row.subject) for row in rows], last, len(rows) < self._most)

    async def _newest(self) -> Mark:
        """Return the position of the newest event; the start of an empty log."""
        row = await self._database.first(_NEWEST_LINK)
        return _START if row is None else Mark(row.number, row.hash)
