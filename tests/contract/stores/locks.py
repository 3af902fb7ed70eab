"""Who waits for a lock of a server's database."""

from __future__ import annotations

from sqlalchemy import text

from gateway.app.store import Store
from tests.world.waiting import until

_WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


async def until_blocked(store: Store, sessions: int = 1) -> None:
    """Wait until so many sessions wait for a lock that another one holds."""

    async def blocked() -> bool:
        async with store.database.reading() as connection:
            return int((await connection.execute(text(_WAITING))).scalar_one()) >= sessions

    await until(blocked)
