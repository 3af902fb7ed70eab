"""StoreGauges that change with every request, of a gateway that runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gateway.app.assembly import assemble
from gateway.app.lifecycle import running
from gateway.config.settings import Server
from gateway.telemetry.metrics import series
from tests.world.gateway.world import sandbox
from tests.world.raw_http import ask, until_closed
from tests.world.waiting import until


async def test_connections_and_the_database_are_shown(tmp_path: Path):
    server = Server(port=0, drain_accept_s=0, connections_per_address=1)
    gateway = assemble(sandbox(tmp_path, server=server), {}, with_bank=False)
    values = gateway.telemetry.values
    async with running(gateway):
        await ask(gateway.operations.port, "/readyz")
        _, held = await asyncio.open_connection("127.0.0.1", gateway.public.port)
        await until(lambda: values.values(series.CONNECTIONS_OPEN).get() == 1)
        await until_closed(gateway.public.port, b"")

        # What runs every second uses the store now and then; it is idle in between.
        shown = (
            values.values(series.CONNECTIONS_OPEN).get,
            lambda: values.values(series.CONNECTIONS_TURNED_AWAY).get("address"),
            values.values(series.STORE_IN_USE).get,
        )
        await until(lambda: tuple(read() for read in shown) == (1, 1, 0))
        worked = values.timings(series.STORE_DURATION).get("read")[0]
        held.close()
        await held.wait_closed()

    assert worked > 0
