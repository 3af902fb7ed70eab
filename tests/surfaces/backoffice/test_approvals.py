"""Four eyes over a socket: what one person orders moves when another one agrees, once."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from gateway.domain.identity.rights import Role
from tests.surfaces.backoffice.desk import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "/backoffice/v1"


def payout(desk: Desk) -> dict[str, object]:
    return {
        "reference": f"office-{uuid.uuid4()}",
        "value": 10.5,
        "date": desk.world.today(),
        "destination": {
            "tax_number": "529.982.247-25",
            "key_type": "email",
            "key": "maria@example.com",
        },
    }


async def ordered(desk: Desk, by: str = "operator") -> tuple[str, str]:
    """Order a payout; return the approval's id and the reference."""
    order = payout(desk)
    said = await desk.ask("POST", desk.at("/withdraw/pix"), order, by=by)
    assert said.status == 202, said.body
    return said.document["id"], str(order["reference"])


async def test_the_order_is_seen_whole_before_it_is_decided(desk: Desk):
    approval, reference = await ordered(desk)

    read = await desk.ask("GET", f"{OFFICE}/approvals/{approval}", by="approver")
    listed = await desk.ask("GET", f"{OFFICE}/approvals?status=waiting&limit=100", by="viewer")
    partner = await desk.world.ask("GET", desk.world.at(f"/withdraw/{reference}"))

    assert read.document["order"]["destination"]["key"] == "maria@example.com"
    assert read.document["order"]["date"] == desk.world.today()
    assert read.document["approval"] in listed.document["data"]
    assert partner.verdict == (404, "SVC.PIX.011")


async def test_ten_approvers_at_once_pay_once(desk: Desk):
    approval, reference = await ordered(desk)
    people = [await desk.limited("main", Role.APPROVER) for _ in range(10)]
    path = f"{OFFICE}/approvals/{approval}/approve"

    said = await asyncio.gather(*(desk.ask("POST", path, by=who) for who in people))

    good = [each for each in said if each.status == 200]
    assert good
    assert all(each.verdict == (400, "VALIDATION_FAILED") for each in said if each not in good)
    assert len({each.document["approval"]["decided_by"] for each in good}) == 1
    assert (await desk.world.settled(reference))["status"] == "paid"
    assert await desk.world.executions(reference) == [1050]


async def test_nobody_approves_their_own_order(desk: Desk):
    who = await desk.limited("main", Role.OPERATOR, Role.APPROVER)
    approval, reference = await ordered(desk, who)

    said = await desk.ask("POST", f"{OFFICE}/approvals/{approval}/approve", by=who)

    assert said.verdict == (403, "FORBIDDEN")
    assert said.document["message"].endswith("Another person has to agree to an order of your own.")
    assert await desk.world.executions(reference) == []


async def test_what_was_rejected_is_not_paid(desk: Desk):
    approval, reference = await ordered(desk)
    path = f"{OFFICE}/approvals/{approval}"

    no = await desk.ask("POST", f"{path}/reject", {"reason": "unknown"}, by="approver")
    yes = await desk.ask("POST", f"{path}/approve", by="approver")

    assert (no.document["status"], no.document["reason"]) == ("rejected", "unknown")
    assert yes.verdict == (400, "VALIDATION_FAILED")
    assert await desk.world.executions(reference) == []


async def test_an_order_of_another_company_is_not_there(desk: Desk):
    approval, _ = await ordered(desk)
    who = await desk.limited("other", Role.APPROVER)

    for method, path in (("GET", ""), ("POST", "/approve"), ("POST", "/reject")):
        body = {} if path == "/reject" else None
        said = await desk.ask(method, f"{OFFICE}/approvals/{approval}{path}", body, by=who)
        assert said.verdict == (404, "NOT_FOUND")
    listed = await desk.ask("GET", f"{OFFICE}/approvals", by=who)
    assert listed.document["data"] == []


async def test_an_account_that_was_switched_off_meanwhile_pays_nothing(desk: Desk):
    approval, reference = await ordered(desk)
    await desk.ask("PATCH", desk.at(), {"active": False}, by="admin")

    said = await desk.ask("POST", f"{OFFICE}/approvals/{approval}/approve", by="approver")

    await desk.ask("PATCH", desk.at(), {"active": True}, by="admin")
    assert said.verdict == (400, "SVC.ACC.002")
    assert await desk.world.executions(reference) == []
