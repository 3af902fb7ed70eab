"""A page of a list, and how long the whole list is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select

from gateway.domain.kernel.windows import Paging
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record


async def page(
    database: Database, wanted: Select[*tuple[Any, ...]], paging: Paging
) -> tuple[Sequence[Record], int]:
    """Return the rows of one page of an ordered selection, and how many rows it has in all."""
    count = select(func.count()).select_from(wanted.order_by(None).subquery())
    async with database.reading() as connection:
        total = (await connection.execute(count)).scalar_one()
        # Past the end a database would walk the whole list to find nothing.
        if paging.offset >= total:
            return [], total
        shown = wanted.limit(paging.limit).offset(paging.offset)
        return (await connection.execute(shown)).all(), total
