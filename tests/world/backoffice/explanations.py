"""What several tests of explanations share."""

from __future__ import annotations

from typing import Any

from tests.world.backoffice.client import BackofficeClient
from tests.world.waiting import until

OFFICE = "/backoffice/v1"


async def explained(desk: BackofficeClient, trace: str, by: str = "operator") -> dict[str, Any]:
    """Ask why the call of a trace was refused; once it is in the request log."""

    async def found() -> dict[str, Any] | None:
        await desk.world.write_request_log()
        said = await desk.ask("GET", f"{OFFICE}/traces/{trace}/explanation", by=by)
        return dict(said.document) if said.status == 200 else None

    return dict(await until(found))
