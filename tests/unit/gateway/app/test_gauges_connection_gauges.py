"""StoreGauges that change with every request, of a gateway that runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gateway.app.assembly import assemble
from gateway.app.lifecycle import running
from gateway.config.settings import Server
from gateway.telemetry.metrics import series
from tests.world.gateway.world import sandbox
from tests.world.metrics import shown, timed
from tests.world.raw_http import ask, until_closed
from tests.world.waiting import until


async def test_connections_and_the_database_are_shown(tmp_path: Path):
    server = Server(port=0, drain_accept_s=0, connections_per_address=1)
    gateway = assemble(sandbox(tmp_path, server=server), {}, with_bank=False)
    values = gateway.telemetry.values
    async with running(gateway):
        await ask(gateway.operations.port, "/readyz")
        _, held = await asyncio.open_connection("127.0.0.1", gateway.public.port)
        await until(lambda: shown(values, series.CONNECTIONS_OPEN) == 1)
        await until_closed(gateway.public.port, b"")

        # What runs every second uses the store now and then; it is idle in between.
        await until(
            lambda: (
                (
                    shown(values, series.CONNECTIONS_OPEN),
                    shown(values, series.CONNECTIONS_TURNED_AWAY, "address"),
                    shown(values, series.STORE_IN_USE),
                )
                == (1, 1, 0)
            )
        )
        worked, _ = timed(values, series.STORE_DURATION, "read")
        held.close()
        await held.wait_closed()

    assert worked > 0
