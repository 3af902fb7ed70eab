"""The list of charges: as they were last known, without a bank."""

from __future__ import annotations

import pytest

from gateway.core.rights import Role
from tests.surfaces.backoffice.charge_list import PATH, listed, stands
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.operations import generated, paid, today

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_charge_is_listed_from_its_order_on(backoffice_client: BackofficeClient):
    charge = await generated(backoffice_client)

    (one,) = await listed(backoffice_client, charge["reference"])

    assert one["account_id"] == backoffice_client.world.demo["accounts"]["main"]["id"]
    assert (one["status"], one["value"], one["type"]) == ("Active", 10.5, "Dynamic")
    assert one["expires_at"] > one["created_at"]
    assert "529" not in str(one)


async def test_a_cancelled_one_is_listed_as_such_at_once(backoffice_client: BackofficeClient):
    charge = await generated(backoffice_client)

    await backoffice_client.ask(
        "DELETE", backoffice_client.at(f"/pix/qrcode/{charge['reference']}")
    )

    (one,) = await listed(backoffice_client, charge["reference"])
    assert one["status"] == "Canceled"


async def test_a_payment_is_noted_when_the_bank_tells_it(backoffice_client: BackofficeClient):
    """By its callback, with nobody looking."""
    charge = await paid(backoffice_client)

    one = await stands(backoffice_client, charge["reference"], "Paid")

    assert one["e2e_id"].startswith("E")
    assert one["paid_at"]


async def test_a_payment_that_only_names_a_charge_does_not_pay_it(
    backoffice_client: BackofficeClient,
):
    """Whoever pays writes what they want into a code of their own."""
    client, world = backoffice_client, backoffice_client.world
    reference = (await generated(client))["reference"]
    bank_account = (await client.ask("GET", client.at(""))).document["provider_account"]

    await world.control.post(
        "accounts", bank_account, "incoming", body={"value": 0.01, "reference": reference}
    )
    received = await client.post("/pix/transactions/search", today(client))
    later = await paid(client)
    await stands(client, later["reference"], "Paid")  # what was read before it is stored

    assert [each["value"] for each in received.document["data"] if each["reference"] == reference]
    (one,) = await listed(client, reference)
    assert (one["status"], one["paid_at"], one["e2e_id"]) == ("Active", "", "")


async def test_a_refused_order_is_not_listed(backoffice_client: BackofficeClient):
    """The key is nobody's of this account."""
    order = {"reference": "never", "type": "Dynamic", "key": "nobody@example.com", "value": 1}

    refused = await backoffice_client.post("/pix/qrcode", order)

    assert refused.status == 422
    assert await listed(backoffice_client, "never") == []


async def test_pages_are_walked_by_their_cursor(backoffice_client: BackofficeClient):
    references = [(await generated(backoffice_client))["reference"] for _ in range(3)]
    path = f"{PATH}?limit=2"

    first = (await backoffice_client.ask("GET", path)).document
    second = (await backoffice_client.ask("GET", f"{path}&cursor={first['meta']['next']}")).document
    shown = [each["reference"] for each in (*first["data"], *second["data"])]

    assert shown[:3] == references[::-1]


@pytest.mark.parametrize(
    "query",
    [
        "status=active",
        "cursor=x",
        "cursor=1-x",
        "cursor=999999999999999999-00000000-0000-4000-8000-000000000000",
        "account_id=1",
        "since=today",
        "limit=0",
    ],
)
async def test_a_filter_of_another_form_is_refused(backoffice_client: BackofficeClient, query: str):
    answer = await backoffice_client.ask("GET", f"{PATH}?{query}")

    assert answer.verdict == (400, "VALIDATION_FAILED")


async def test_charges_of_another_company_are_not_there(backoffice_client: BackofficeClient):
    """Whatever is asked: the limit stands in the query."""
    charge = await generated(backoffice_client)
    account = backoffice_client.world.demo["accounts"]["main"]["id"]
    other = await backoffice_client.limited("other", Role.VIEWER)

    everything = await backoffice_client.ask("GET", f"{PATH}?limit=100", by=other)
    theirs = await backoffice_client.ask("GET", f"{PATH}?account_id={account}", by=other)

    assert account.encode() not in everything.body
    assert theirs.document["data"] == []
    assert await listed(backoffice_client, charge["reference"], by=other) == []
