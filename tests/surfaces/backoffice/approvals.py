"""What several tests of approvals share."""

from __future__ import annotations

import uuid

from tests.world.backoffice.client import BackofficeClient


def payout(backoffice_client: BackofficeClient) -> dict[str, object]:
    return {
        "reference": f"office-{uuid.uuid4()}",
        "value": 10.5,
        "date": backoffice_client.world.today(),
        "destination": {
            "tax_number": "529.982.247-25",
            "key_type": "email",
            "key": "maria@example.com",
        },
    }


async def ordered(backoffice_client: BackofficeClient, by: str = "operator") -> tuple[str, str]:
    """Order a payout; return the approval's id and the reference."""
    order = payout(backoffice_client)
    said = await backoffice_client.ask("POST", backoffice_client.at("/withdraw/pix"), order, by=by)
    assert said.status == 202, said.body
    return said.document["id"], str(order["reference"])
