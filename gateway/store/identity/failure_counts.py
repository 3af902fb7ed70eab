"""Wrong passwords and codes, counted in the store for all processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from sqlalchemy import delete, or_, select, update

from gateway.domain.identity.failure_counts import Failures
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import record_of, row_of
from gateway.store.tables.identity import failures

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class StoredFailureCounts:
    """``FailureCounts`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, keys: Sequence[str]) -> Sequence[Failures]:
        """Return what is counted under these keys."""
        wanted = select(failures).where(failures.c.key.in_(keys))
        async with self._database.reading() as connection:
            rows = (await connection.execute(wanted)).all()
        return [record_of(Failures, row) for row in rows]

    async def change(self, key: str, next_of: Callable[[Failures | None], Failures]) -> Failures:
        """Replace one by what follows it, in one transaction; return what follows."""
        own = failures.c.key == key
        async with self._database.writing() as connection:
            first = Failures(key=key, count=0, since=_NEVER)
            is_new = await self._database.add(connection, failures, row_of(first))
            row = (await connection.execute(select(failures).where(own).with_for_update())).one()
            following = next_of(None if is_new else record_of(Failures, row))
            await connection.execute(update(failures).where(own).values(row_of(following)))
        return following

    async def clear(self, keys: Sequence[str]) -> None:
        """Forget what is counted under these keys."""
        async with self._database.writing() as connection:
            await connection.execute(delete(failures).where(failures.c.key.in_(keys)))

    async def forget(self, before: datetime) -> int:
        """Delete what began and ended before an instant; return how many."""
        free = or_(failures.c.blocked_until.is_(None), failures.c.blocked_until < before)
        old = delete(failures).where(failures.c.since < before, free)
        async with self._database.writing() as connection:
            return (await connection.execute(old)).rowcount
