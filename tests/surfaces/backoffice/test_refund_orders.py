"""Refunds as orders: refused when they are above what is left of their payment."""

from __future__ import annotations

import uuid

import pytest

from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.operations import paid

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "/backoffice/v1"


async def ordered(
    backoffice_client: BackofficeClient, charge: dict[str, str], value: float
) -> tuple[str, str]:
    """Order a refund that waits; return the approval's id and the reference."""
    wanted = {"reference": uuid.uuid4().hex, "value": value, "description": ""}
    said = await backoffice_client.post(f"/pix/transactions/{charge['reference']}/refunds", wanted)
    assert said.status == 202, said.body
    return str(said.document["id"]), str(wanted["reference"])


async def test_a_refund_above_the_remaining_amount_is_refused_when_ordered(
    backoffice_client: BackofficeClient,
):
    """Earlier refunds count, although the amount alone would fit into the payment."""
    charge = await paid(backoffice_client)
    first, _ = await ordered(backoffice_client, charge, 6)
    given = await backoffice_client.ask(
        "POST", f"{OFFICE}/approvals/{first}/approve", by="approver"
    )
    wanted = {"reference": uuid.uuid4().hex, "value": 4.51, "description": ""}

    said = await backoffice_client.post(f"/pix/transactions/{charge['reference']}/refunds", wanted)

    assert given.status == 200
    assert said.verdict == (422, "SVC.GTW.008")
    assert said.document["reason"] == "above_payment"


async def test_of_two_refunds_above_their_payment_the_second_is_not_approved(
    backoffice_client: BackofficeClient,
):
    """Both fit when ordered; after the first too little is left for the second."""
    charge = await paid(backoffice_client)
    (first, _), (second, reference) = [
        await ordered(backoffice_client, charge, 6) for _ in range(2)
    ]

    given = await backoffice_client.ask(
        "POST", f"{OFFICE}/approvals/{first}/approve", by="approver"
    )
    refused = await backoffice_client.ask(
        "POST", f"{OFFICE}/approvals/{second}/approve", by="approver"
    )
    told = [
        (await backoffice_client.ask("GET", f"{OFFICE}/approvals/{each}", by="viewer")).document[
            "approval"
        ]
        for each in (first, second)
    ]
    rejected = await backoffice_client.ask(
        "POST", f"{OFFICE}/approvals/{second}/reject", {"reason": "too much"}, by="approver"
    )
    read = await backoffice_client.read(f"/pix/refunds/{reference}")

    assert (given.status, refused.verdict) == (200, (422, "SVC.GTW.008"))
    assert refused.document["reason"] == "above_payment"
    assert [each["status"] for each in told] == ["approved", "waiting"]
    assert rejected.status == 200
    assert read.status == 404
