"""A refused call of a partner, whose trace operators can read."""

from __future__ import annotations

import uuid

from tests.contract.openapi.known import Known
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.explanations import explained


async def refused_call(backoffice_client: BackofficeClient) -> Known:
    """Make one, and wait until it is in the log."""
    world, trace = backoffice_client.world, str(uuid.uuid4())
    path = world.at("/pix/keys/no-uuid")
    said = await world.ask("GET", path, headers={"X-Trace-ID": trace})
    assert said.status == 400, said.body
    await explained(backoffice_client, trace)
    return Known(path={"trace_id": trace})
