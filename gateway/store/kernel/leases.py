"""Leases of tasks, one row for each task."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import func, or_, select, update

from gateway.core.storage import LEASE, LEASE_AHEAD
from gateway.store.kernel.database import Database
from gateway.store.tables.core import task_leases

_LEASES: Final = task_leases.c
_LATEST: Final = select(func.max(_LEASES.ends_at, type_=_LEASES.ends_at.type))


class StoredTaskLeases:
    """
    Leases of tasks: holder and end.

    A lease saves work but guards nothing: work under a lease may be done twice. Every method raises
    ``StoreUnavailable`` when the store does not answer.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, task: str, owner: str, now: datetime) -> bool:
        """
        Take or renew a lease for ``LEASE``; False when another worker has it.

        A lease with an implausibly late end was made before a clock was put back, and is free.
        """
        ends_at = _LEASES.ends_at
        free = or_(_LEASES.owner == owner, ends_at <= now, ends_at > now + LEASE_AHEAD)
        again = update(task_leases).where(_LEASES.task == task, free)
        taken = {"owner": owner, "ends_at": now + LEASE}
        async with self._database.writing() as connection:
            if (await connection.execute(again.values(taken))).rowcount:
                return True
            return await self._database.add(connection, task_leases, {"task": task, **taken})

    async def release(self, owner: str, now: datetime) -> None:
        """End all leases of a worker, so that another worker takes over at once."""
        ended = update(task_leases).where(_LEASES.owner == owner, _LEASES.ends_at > now)
        await self._database.write(ended.values(ends_at=now))

    async def latest(self, now: datetime) -> datetime | None:
        """Return when the last lease ends or has ended, without those from before a jump back."""
        possible = _LATEST.where(_LEASES.ends_at <= now + LEASE_AHEAD)
        found: datetime | None
        [(found,)] = await self._database.rows(possible)
        return found
