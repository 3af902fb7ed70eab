"""Deleting what is old, a little at a time: nobody who writes meanwhile waits for long."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, delete, select

from gateway.store.kernel.database import Database

AT_ONCE: Final = 1_000
"""Rows of a transaction: some milliseconds. All at once would outlast the time of a statement where
much has gathered, and hold a file's one writer up."""


async def delete_old(database: Database, age: Column[Any], before: object) -> int:
    """
    Delete the rows whose ``age`` lies before a value, the oldest first; return how many.

    The column has an index. Each step begins where the one before ended: the index still has
    what was deleted, and would be walked again and again.

    Raises:
        StoreUnavailable: what was deleted until then is gone.
    """
    deleted, old = 0, [age < before]
    while True:
        last = select(age).where(*old).order_by(age).offset(AT_ONCE - 1).limit(1)
        async with database.writing() as connection:
            until = (await connection.execute(last)).scalar()
            few = delete(age.table).where(*old)
            if until is not None:
                few = few.where(age <= until)
            deleted += (await connection.execute(few)).rowcount
        if until is None:
            return deleted
        old = [age < before, age >= until]
