"""The register of live processes, one row for each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import orjson
from sqlalchemy import ColumnElement, delete, not_, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.core.key_rotation import LiveProcess, key_conflicts
from gateway.core.storage import LEASE, LEASE_AHEAD
from gateway.store.kernel.database import Database
from gateway.store.tables.core import processes, stamps

_LOCK: Final = select(stamps.c.one).with_for_update()
"""Processes that register take turns; on SQLite every transaction that writes does."""


class StoredProcesses:
    """
    The register of live processes.

    An entry lasts for ``LEASE`` unless it is renewed: a process that was killed is in it so long.
    Every method raises ``StoreUnavailable`` when the store does not answer.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, process: LiveProcess, now: datetime) -> Sequence[str]:
        """
        Add a starting process, unless its keys conflict with the others'.

        Of two that start at the same time the second one is compared with the first.

        Returns:
            The reasons why it was not added, see ``key_conflicts``; none when it was.
        """
        async with self._database.writing() as connection:
            await connection.execute(_LOCK)
            await connection.execute(delete(processes).where(not_(_is_alive(now))))
            problems = key_conflicts(process, await _found(connection, now))
            if not problems:
                await self._add(connection, process, now)
        return problems

    async def renew(self, process: LiveProcess, now: datetime) -> None:
        """Renew an entry; an expired entry is added again."""
        own = update(processes).where(processes.c.id == process.id)
        async with self._database.writing() as connection:
            if not (await connection.execute(own.values(ends_at=now + LEASE))).rowcount:
                await self._add(connection, process, now)

    async def remove(self, process: LiveProcess) -> None:
        """Remove a process."""
        await self._database.write(delete(processes).where(processes.c.id == process.id))

    async def alive(self, now: datetime) -> Sequence[LiveProcess]:
        """Return the live processes, ordered by name."""
        async with self._database.reading() as connection:
            return await _found(connection, now)

    async def _add(self, connection: AsyncConnection, process: LiveProcess, now: datetime) -> None:
        row = {
            "id": process.id,
            "name": process.name,
            "keys": orjson.dumps(process.keys).decode(),
            "ends_at": now + LEASE,
        }
        await self._database.add(connection, processes, row)


async def _found(connection: AsyncConnection, now: datetime) -> Sequence[LiveProcess]:
    wanted = select(processes).where(_is_alive(now)).order_by(processes.c.name, processes.c.id)
    rows = (await connection.execute(wanted)).all()
    return [LiveProcess(id=row.id, name=row.name, keys=orjson.loads(row.keys)) for row in rows]


def _is_alive(now: datetime) -> ColumnElement[bool]:
    """Select live entries; implausibly late ends are from before a clock was put back."""
    return processes.c.ends_at.between(now, now + LEASE_AHEAD)
