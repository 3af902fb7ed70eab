"""Identity of the store, and the oldest schema that its schema still serves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from gateway.core.account import Environment
from gateway.store.kernel.database import Database
from gateway.store.tables.core import stamps

_WHOSE = (stamps.c.environment, stamps.c.id, stamps.c.created_at)
"""What the stamp has had since the first schema: it is read before a store is brought up."""


class StoreRefused(Exception):
    """This gateway must not work on this store; the text is one line for the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """The mark of a store from its first use; ``id`` is a UUID."""

    environment: Environment
    id: str
    created_at: datetime


async def read_stamp(database: Database) -> Stamp | None:
    """Return the stamp; None for an unused store."""
    row = await database.first(select(*_WHOSE))
    if row is None:
        return None
    return Stamp(environment=Environment(row.environment), id=row.id, created_at=row.created_at)


async def stamped(database: Database, fresh: Stamp, compatible_with: str) -> Stamp:
    """
    Stamp a store that has no stamp; return the one it has then.

    Raises:
        StoreRefused: the store does not keep the stamp.
    """
    found = await read_stamp(database)
    if found is not None:
        return found
    row = {
        "one": 1,
        "environment": fresh.environment.value,
        "id": fresh.id,
        "created_at": fresh.created_at,
        "compatible_with": compatible_with,
    }
    async with database.writing() as connection:
        await database.add(connection, stamps, row)
    found = await read_stamp(database)
    if found is None:
        problem = "The store does not keep its stamp."
        raise StoreRefused(problem)
    return found


def check_environment(stamp: Stamp | None, environment: Environment) -> None:
    """Refuse a store of the other environment."""
    if stamp is not None and stamp.environment is not environment:
        problem = f"The store belongs to {stamp.environment}, this gateway to {environment}."
        raise StoreRefused(problem)


async def compatible_with(database: Database) -> str | None:
    """Return the oldest schema whose processes may work on this store; None without a stamp."""
    found = await database.first(select(stamps.c.compatible_with))
    return found.compatible_with if found else None
