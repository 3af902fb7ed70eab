"""
The audit log as users read it, and as a change feed for what is kept in memory.

An event's number is taken under the lock of the log's head and in the change's own
transaction, so numbers become visible in order: whoever has read up to one has missed none
before it. Read from the database that writes, never from a replica.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, bindparam, case, exists, false, func, select

from gateway.domain.backoffice.change_feed import Act, Mark, News
from gateway.domain.backoffice.lists import AuditEntry, AuditSearch
from gateway.domain.kernel.audit import AcceptedBreak
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.store.audit.audit_log import StoredAudit
from gateway.store.audit.walk import event_of
from gateway.store.kernel.database import Database, page
from gateway.store.tables.columns import Record
from gateway.store.tables.core import audit, payouts
from gateway.store.tables.scope import limited_exactly

_OPINION = "payout.judged"
_IN_REVIEW = exists().where(
    payouts.c.provider_key == func.substr(audit.c.subject, len("payout:") + 1), payouts.c.review
)
# Asked about opinions alone: there are few.
_ACTS = select(
    audit, case((audit.c.action == _OPINION, _IN_REVIEW), else_=false()).label("is_open_opinion")
)
_NEWEST = _ACTS.order_by(audit.c.number.desc())


class StoredAuditRecord:
    """``AuditRecord`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_acts(
        self, search: AuditSearch, scope: CompanyScope
    ) -> tuple[Sequence[AuditEntry], int]:
        """Return a page, newest first, and how many there are."""
        rows, total = await page(self._database, _matching(search, scope), search.paging)
        return [_entry(row) for row in rows], total

    async def after(self, number: int, most: int, scope: CompanyScope) -> Sequence[AuditEntry]:
        """Return what follows ``number``, in the order of the chain; limited to a scope."""
        following = _ACTS.where(audit.c.number > number).order_by(audit.c.number)
        following = following.where(*limited_exactly(audit.c.companies, scope))
        async with self._database.reading() as connection:
            return [_entry(row) for row in (await connection.execute(following.limit(most))).all()]

    async def verify(self) -> int:
        """Walk the chain; return its length. ValueError names the first broken link."""
        return await StoredAudit(self._database).verify()

    async def accepted(self) -> Sequence[AcceptedBreak]:
        """Return the breaks that ``verify`` passes because they were accepted, oldest first."""
        return await StoredAudit(self._database).accepted()


def _matching(search: AuditSearch, scope: CompanyScope) -> Select[*tuple[Any, ...]]:
    """Select what a search asks for."""
    wanted = _NEWEST
    if search.since is not None:
        wanted = wanted.where(audit.c.at >= search.since)
    if search.until is not None:
        wanted = wanted.where(audit.c.at < search.until)
    if search.trace_id is not None:
        wanted = wanted.where(audit.c.trace_id == search.trace_id)
    wanted = wanted.where(*limited_exactly(audit.c.companies, scope))
    for column, value in (
        (audit.c.actor, search.actor),
        (audit.c.action, search.action),
        (audit.c.subject, search.subject),
    ):
        if value is not None and value.endswith("*"):
            wanted = wanted.where(column.startswith(value[:-1], autoescape=True))
        elif value is not None:
            wanted = wanted.where(column == value)
    return wanted


def _entry(row: Record) -> AuditEntry:
    return AuditEntry(row.number, event_of(row), row.hash, bool(row.is_open_opinion))


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


class StoredChanges:
    """``Changes`` over a database."""

    def __init__(self, database: Database, most: int = _MOST) -> None:
        """Read at most so many acts at once."""
        self._database = database
        self._most = most

    async def read(self, mark: Mark | None) -> News | None:
        """Return what follows a mark, or the newest place; None when the mark is not there."""
        if mark is None:
            return News((), await self._newest(), is_all=True)
        # the event at the mark is read again: that it is still the same one proves the place
        wanted = {"number": mark.number, "most": self._most + 1}
        async with self._database.reading() as connection:
            rows = (await connection.execute(_FROM, wanted)).all()
        if mark != _START:
            if not rows or (rows[0].number, rows[0].hash) != (mark.number, mark.hash):
                return None
            rows = rows[1:]
        rows = rows[: self._most]
        last = Mark(rows[-1].number, rows[-1].hash) if rows else mark
        return News([Act(row.action, row.subject) for row in rows], last, len(rows) < self._most)

    async def _newest(self) -> Mark:
        """Return the place of the newest event; the start where there is none."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_NEWEST_LINK)).first()
        return _START if row is None else Mark(row.number, row.hash)
