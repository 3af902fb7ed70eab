"""What several tests of explanations share."""

from __future__ import annotations

from typing import Any

from tests.world.backoffice.client import BackofficeClient
from tests.world.waiting import pause

OFFICE = "/backoffice/v1"


async def explained(desk: BackofficeClient, trace: str, by: str = "operator") -> dict[str, Any]:
    """Ask why the call of a trace was refused; the log is written every second."""
    while True:
        said = await desk.ask("GET", f"{OFFICE}/traces/{trace}/explanation", by=by)
        if said.status == 200:
            return dict(said.document)
        await pause()
