"""What several tests of management share."""

from __future__ import annotations

from provider_adapters.testing.demo.ensure import Pair
from tests.world.backoffice.client import BackofficeClient

OFFICE = "/backoffice/v1"


def main_company(backoffice_client: BackofficeClient) -> str:
    return backoffice_client.world.demo["companies"]["main"]["id"]


async def issued(backoffice_client: BackofficeClient, **more: object) -> dict[str, str]:
    order = {
        "name": "of a test",
        "company_id": main_company(backoffice_client),
        "permissions": ["balance:read"],
        **more,
    }
    said = await backoffice_client.ask("POST", f"{OFFICE}/credentials", order, by="admin")
    assert said.status == 201, said.body
    return dict(said.document)


def pair(made: dict[str, str]) -> Pair:
    return Pair(client_id=made["client_id"], client_secret=made["client_secret"])
