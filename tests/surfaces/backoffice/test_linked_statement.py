"""The statement tied to payouts and charges, at the sandbox bank."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.windows import LOCAL
from tests.surfaces.backoffice.charge_list import stands
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.operations import days, paid
from tests.world.gateway.world import order

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def read(backoffice_client: BackofficeClient, more: str = "") -> Any:
    """Read the statement of yesterday and today, as people in Brazil count them."""
    today = backoffice_client.world.gateway.kernel.now().astimezone(LOCAL).date()
    wanted = f"?init={today - timedelta(days=1)}&ends={today}"
    answer = await backoffice_client.read(f"/statement{wanted}{more}")
    assert answer.status == 200, answer.body
    return answer.document


async def test_a_payout_and_a_charge_stand_beside_their_movements(
    backoffice_client: BackofficeClient,
):
    world, reference = backoffice_client.world, uuid.uuid4().hex
    await world.pay(order(reference, world.today()))
    await world.settled(reference)
    charge = await paid(backoffice_client)
    await stands(backoffice_client, charge["reference"], "Paid")

    found = (await read(backoffice_client, "&limit=100"))["data"]

    payouts = {each["payout"]["reference"]: each for each in found if "payout" in each}
    charges = {each["charge"]["reference"]: each for each in found if "charge" in each}
    assert payouts[reference]["type"] == "debit"
    assert payouts[reference]["payout"]["certainty"] == "settled"
    assert not payouts[reference]["unexplained"]
    assert charges[charge["reference"]]["type"] == "credit"


async def test_filters_and_sums(backoffice_client: BackofficeClient):
    await paid(backoffice_client)

    everything = await read(backoffice_client)
    credit = await read(backoffice_client, "&direction=credit&limit=100")

    assert {each["type"] for each in credit["data"]} == {"credit"}
    assert credit["sums"] == everything["sums"]
    assert everything["sums"]["credit_count"] == credit["meta"]["total"]
    assert everything["read_at"]


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ("&direction=Credit", (400, "SVC.VAL.011")),
        ("&direction=credit&direction=debit", (400, "SVC.VAL.011")),
        ("&text=%00", (400, "SVC.VAL.011")),
        ("&page=0", (400, "SVC.VAL.009")),
    ],
)
async def test_filters_of_another_form_are_refused(
    backoffice_client: BackofficeClient, more: str, verdict: tuple[int, str]
):
    answer = await backoffice_client.read(f"/statement{days(backoffice_client)}{more}")

    assert answer.verdict == verdict
