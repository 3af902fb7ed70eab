"""Refunds as orders: refused when they are above what is left, and ended when the bank refuses."""

from __future__ import annotations

import uuid

import pytest

from tests.surfaces.backoffice.desk import Desk
from tests.surfaces.backoffice.test_operations import paid

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "/backoffice/v1"


async def ordered(desk: Desk, charge: dict[str, str], value: float) -> tuple[str, str]:
    """Order a refund that waits; return the approval's id and the reference."""
    wanted = {"reference": uuid.uuid4().hex, "value": value, "description": ""}
    said = await desk.post(f"/pix/transactions/{charge['reference']}/refunds", wanted)
    assert said.status == 202, said.body
    return str(said.document["id"]), str(wanted["reference"])


async def test_a_refund_above_its_payment_is_refused_when_it_is_ordered(desk: Desk):
    charge = await paid(desk)
    wanted = {"reference": uuid.uuid4().hex, "value": 10.51, "description": ""}

    said = await desk.post(f"/pix/transactions/{charge['reference']}/refunds", wanted)

    assert said.verdict == (422, "SVC.GTW.008")
    assert said.document["reason"] == "above_payment"


async def test_a_refund_above_the_rest_of_its_payment_is_refused_when_it_is_ordered(desk: Desk):
    """What was given back before counts, though it fits into the payment as it came in."""
    charge = await paid(desk)
    first, _ = await ordered(desk, charge, 6)
    given = await desk.ask("POST", f"{OFFICE}/approvals/{first}/approve", by="approver")
    wanted = {"reference": uuid.uuid4().hex, "value": 4.51, "description": ""}

    said = await desk.post(f"/pix/transactions/{charge['reference']}/refunds", wanted)

    assert given.status == 200
    assert said.verdict == (422, "SVC.GTW.008")
    assert said.document["reason"] == "above_payment"


async def test_a_refund_that_the_bank_refuses_ends_its_approval(desk: Desk):
    """Both fit when they are ordered; after the first there is too little left for the second."""
    charge = await paid(desk)
    (first, _), (second, reference) = [await ordered(desk, charge, 6) for _ in range(2)]

    given = await desk.ask("POST", f"{OFFICE}/approvals/{first}/approve", by="approver")
    refused = await desk.ask("POST", f"{OFFICE}/approvals/{second}/approve", by="approver")
    told = [
        (await desk.ask("GET", f"{OFFICE}/approvals/{each}", by="viewer")).document["approval"]
        for each in (first, second)
    ]
    again = await desk.ask("POST", f"{OFFICE}/approvals/{second}/approve", by="approver")
    read = await desk.read(f"/pix/refunds/{reference}")

    assert (given.status, refused.verdict) == (200, (422, "SVC.GTW.008"))
    assert [each["outcome"] for each in told] == [
        {"status": "moved", "code": ""},
        {"status": "refused", "code": "SVC.GTW.008"},
    ]
    assert again.verdict == (400, "VALIDATION_FAILED")
    assert read.status == 404
