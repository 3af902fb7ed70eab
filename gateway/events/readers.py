"""
When the feed of each account was last read.

Payments are looked for at the bank while somebody reads of them. A read costs no statement for
that: it is noted here, and written in the background.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, update

from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.database import Database
from gateway.store.tables.core import payment_walks

_WRITTEN_EVERY: Final = timedelta(minutes=10)
"""A partner may read its feed many times a second."""
_READ_AGAIN: Final = (
    update(payment_walks)
    .where(payment_walks.c.account_id == bindparam("account"))
    .values(read_at=bindparam("at"))
)


class FeedReaders:
    """The reads of feeds in this process; one that is lost in a crash is noted by the next."""

    def __init__(self, database: Database, now: Now) -> None:
        self._database, self._now = database, now
        self._waiting: dict[str, datetime] = {}
        self._written: dict[str, datetime] = {}

    def note(self, account_id: str) -> None:
        """Remember a read; raises nothing."""
        now = self._now()
        if not _is_recent(self._written.get(account_id), now):
            self._waiting.setdefault(account_id, now)

    async def write(self) -> None:
        """
        Write the reads that are not written yet; the first of an account begins its walk.

        Raises:
            StoreUnavailable: the rest is written the next time.
        """
        now = self._now()
        self._written = {
            account_id: at for account_id, at in self._written.items() if _is_recent(at, now)
        }
        while self._waiting:
            account_id, at = self._waiting.popitem()
            try:
                await self._write(account_id, at)
            except StoreUnavailable:
                self._waiting.setdefault(account_id, at)
                raise
            self._written[account_id] = now

    async def _write(self, account_id: str, at: datetime) -> None:
        first = {"account_id": account_id, "begun_at": at, "read_at": at, "until": at}
        async with self._database.writing() as connection:
            if not await self._database.add(connection, payment_walks, first):
                await connection.execute(_READ_AGAIN, {"account": account_id, "at": at})


def _is_recent(at: datetime | None, now: datetime) -> bool:
    return at is not None and now - _WRITTEN_EVERY < at <= now
