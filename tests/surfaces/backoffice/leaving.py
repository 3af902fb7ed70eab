"""Acts that are answered with nothing."""

from __future__ import annotations

from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.answers import Answer


async def leaves(backoffice_client: BackofficeClient, path: str, *, by: str) -> Answer:
    """Delete something as somebody."""
    headers = {"Authorization": f"Bearer {await backoffice_client.token(by)}"}
    url = f"http://127.0.0.1:{backoffice_client.world.port}{path}"
    async with backoffice_client.world.session.delete(url, headers=headers) as said:
        return Answer(status=said.status, headers=said.headers, body=await said.read())
