"""What several tests of operations share."""

from __future__ import annotations

import uuid
from typing import Any

from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import order

PAYEE = {
    "name": "Maria Silva",
    "tax_number": "529.982.247-25",
    "key_type": "email",
    "key": "maria@example.com",
}
BANK_PAYEE = {
    "name": "Maria Silva",
    "tax_number": "52998224725",
    "bank_number": "341",
    "branch": "0001",
    "account": "123456-7",
}


def today(backoffice_client: BackofficeClient) -> dict[str, str]:
    return {"init": backoffice_client.world.today(), "ends": backoffice_client.world.today()}


def days(backoffice_client: BackofficeClient) -> str:
    return "?init={init}&ends={ends}".format(**today(backoffice_client))


def withdrawing(
    backoffice_client: BackofficeClient, reference: str, **changed: object
) -> dict[str, object]:
    """An order by PIX key, as the path wants it: without a method."""
    sent = order(reference, backoffice_client.world.today(), **changed)
    del sent["method"]
    return sent


async def generated(backoffice_client: BackofficeClient, **changed: object) -> Any:
    asked = {
        "reference": uuid.uuid4().hex,
        "type": "Dynamic",
        "key": await own_key(backoffice_client),
        "value": 10.5,
        "expires_in": 3600,
        "payer": {"name": "Maria Silva", "tax_number": "529.982.247-25", "message": "pedido"},
        "description": "um pedido",
        **changed,
    }
    answer = await backoffice_client.post("/pix/qrcode", asked)
    assert answer.status == 201, answer.body
    return answer.document


async def own_key(backoffice_client: BackofficeClient) -> str:
    listed = (await backoffice_client.read("/pix/keys")).document["data"]
    return str(next(key["key"] for key in listed if key["status"] == "active"))


async def paid(backoffice_client: BackofficeClient) -> Any:
    """Have a QR code generated and paid; return it."""
    charge = await generated(backoffice_client)
    await backoffice_client.world.control.post("charges", charge["reference"], "pay", body={})
    return charge
