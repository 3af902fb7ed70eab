"""What several tests of people share."""

from __future__ import annotations

import uuid

from tests.world.backoffice.client import BackofficeClient

OFFICE = "/backoffice/v1"


def address() -> str:
    return f"{uuid.uuid4().hex}@example.com"


async def invited(
    backoffice_client: BackofficeClient, by: str = "admin", **more: object
) -> dict[str, str]:
    order = {"email": address(), "name": "Nova", "roles": ["viewer"], **more}
    said = await backoffice_client.ask("POST", f"{OFFICE}/users", order, by=by)
    assert said.status == 201, said.body
    return dict(said.document)
