"""Deletion of old rows in small steps, so that concurrent writers hardly wait."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import Column, ColumnElement, delete, select

from gateway.store.kernel.database import Database

AT_ONCE: Final = 1_000
"""Rows of a transaction: some milliseconds. All at once would outlast the time of a statement where
much has gathered, and hold a file's one writer up."""


class Owned(NamedTuple):
    """
    Rows of another table that are deleted with the rows that they belong to.

    Attributes:
        owner: Their column that names the owner; it has an index.
        key: The owner's.
    """

    owner: Column[Any]
    key: Column[Any]


async def delete_old(
    database: Database,
    age: Column[Any],
    before: object,
    *also: ColumnElement[bool],
    owned: Owned | None = None,
) -> int:
    """
    Delete the rows whose ``age`` lies before a value, the oldest first; return how many.

    The column has an index. Each step begins where the one before ended: the index still has
    what was deleted, and would be walked again and again. Most of the rows that are so old
    fulfil ``also``, or each step walks over the rest.

    Raises:
        StoreUnavailable: rows deleted until then are gone.
    """
    deleted, old = 0, [*also, age < before]
    while True:
        last = select(age).where(*old).order_by(age).offset(AT_ONCE - 1).limit(1)
        async with database.writing() as connection:
            until = (await connection.execute(last)).scalar()
            few = old if until is None else [*old, age <= until]
            if owned is not None:
                owners = select(owned.key).where(*few)
                await connection.execute(delete(owned.owner.table).where(owned.owner.in_(owners)))
            deleted += (await connection.execute(delete(age.table).where(*few))).rowcount
        if until is None:
            return deleted
        old = [*also, age < before, age >= until]
