"""What no schema can tell of a partner's calls of the surface of events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime

from gateway.closings.model import Closing
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import day_closings
from tests.contract.openapi.known import Knowing, Known
from tests.world.backoffice.client import BackofficeClient


async def _closing(backoffice_client: BackofficeClient) -> Known:
    """Sign a day, unless it is."""
    world, day = backoffice_client.world, date(2026, 11, 20)
    amounts = ("opening", "credits", "debits", "fees", "returns", "closing", "paid")
    made = Closing(
        account_id=world.demo["accounts"]["main"]["id"],
        day=day,
        differences=0,
        digest="0" * 64,
        movements="0" * 64,
        signed_by="user:maria",
        signed_at=datetime(2026, 11, 21, tzinfo=UTC),
        **dict.fromkeys(amounts, 0),
    )
    database = world.gateway.kernel.store.database
    async with database.writing() as connection:
        await database.add(connection, day_closings, row_of(made))
    return Known(path={"day": day.isoformat()})


KNOWN: Mapping[str, Knowing] = {"events.closing": _closing}
