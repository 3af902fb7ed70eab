"""Acts that are answered with nothing."""

from __future__ import annotations

from tests.surfaces.answers import Answer
from tests.surfaces.backoffice.desk import Desk


async def leaves(desk: Desk, path: str, *, by: str) -> Answer:
    """Delete something as somebody."""
    headers = {"Authorization": f"Bearer {await desk.token(by)}"}
    url = f"http://127.0.0.1:{desk.world.port}{path}"
    async with desk.world.session.delete(url, headers=headers) as said:
        return Answer(status=said.status, headers=said.headers, body=await said.read())
