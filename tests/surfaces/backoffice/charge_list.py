"""What several tests of charge list share."""

from __future__ import annotations

from typing import Any

from tests.world.backoffice.client import BackofficeClient
from tests.world.waiting import until

PATH = "/backoffice/v1/charges"


async def listed(
    backoffice_client: BackofficeClient, reference: str, by: str = "viewer"
) -> list[dict[str, Any]]:
    answer = await backoffice_client.ask("GET", f"{PATH}?reference={reference}", by=by)
    assert answer.status == 200, answer.body
    found: list[dict[str, Any]] = answer.document["data"]
    return found


async def stands(
    backoffice_client: BackofficeClient, reference: str, status: str
) -> dict[str, Any]:
    """Wait until a charge is listed in a state; what is read is stored within a second or so."""

    async def found() -> dict[str, Any] | None:
        (one,) = await listed(backoffice_client, reference)
        return one if one["status"] == status else None

    return dict(await until(found))
