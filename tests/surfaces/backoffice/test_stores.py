"""A person's day at the desk, on either database."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest

from gateway.config.settings import Settings
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.operations import generated, paid, today, withdrawing
from tests.world.gateway.world import opened, order


@pytest.fixture
async def backoffice_client(settings_on_either_store: Settings) -> AsyncIterator[BackofficeClient]:
    async with opened(settings_on_either_store) as world:
        yield BackofficeClient(world)


async def test_what_is_kept_is_kept_alike(backoffice_client: BackofficeClient):
    """Accounts, payouts, approvals and the audit log, all of them read and written."""
    world, reference = backoffice_client.world, uuid.uuid4().hex
    await world.pay(order(reference, world.today()))
    settled = await world.settled(reference)

    accounts = (await backoffice_client.ask("GET", "/backoffice/v1/accounts?limit=100")).document
    read = (await backoffice_client.read(f"/withdraw/{reference}")).document
    found = (
        await backoffice_client.post(
            "/withdraws/search", {**today(backoffice_client), "status": "paid"}
        )
    ).document
    waiting = await backoffice_client.post(
        "/withdraw/pix", withdrawing(backoffice_client, uuid.uuid4().hex)
    )
    charge = await paid(backoffice_client)
    refund = await backoffice_client.post(
        f"/pix/transactions/{charge['reference']}/refunds", {"reference": "r", "value": 1}
    )
    gone = await backoffice_client.ask(
        "DELETE",
        backoffice_client.at(f"/pix/qrcode/{(await generated(backoffice_client))['reference']}"),
    )

    assert accounts["meta"]["total"] == len(world.demo["accounts"])
    hidden = {"tax_number": "***.982.247-**", "key": "m•••••@e•••••.com"}
    shown = {**settled, "destination": {**settled["destination"], **hidden}}
    assert read == {**shown, "held_until": "", "returns": []}
    assert shown in found["data"]
    assert (waiting.status, refund.status) == (202, 202)
    assert gone.document["status"] == "Canceled"
    assert await world.gateway.kernel.store.audit.verify() > 0
