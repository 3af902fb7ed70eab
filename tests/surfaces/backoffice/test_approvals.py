"""Four eyes over a socket: what one person orders moves when another one agrees, once."""

from __future__ import annotations

import asyncio

import pytest

from gateway.core.rights import Role
from tests.surfaces.backoffice.approvals import ordered
from tests.world.backoffice.client import BackofficeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "/backoffice/v1"


async def test_the_order_is_seen_whole_before_it_is_decided(backoffice_client: BackofficeClient):
    approval, reference = await ordered(backoffice_client)

    read = await backoffice_client.ask("GET", f"{OFFICE}/approvals/{approval}", by="approver")
    listed = await backoffice_client.ask(
        "GET", f"{OFFICE}/approvals?status=waiting&limit=100", by="viewer"
    )
    partner = await backoffice_client.world.ask(
        "GET", backoffice_client.world.at(f"/withdraw/{reference}")
    )

    assert read.document["order"]["destination"]["key"] == "maria@example.com"
    assert read.document["order"]["date"] == backoffice_client.world.today()
    assert read.document["approval"] in listed.document["data"]
    assert partner.verdict == (404, "SVC.PIX.011")


async def test_ten_approvers_at_once_pay_once(backoffice_client: BackofficeClient):
    approval, reference = await ordered(backoffice_client)
    people = [await backoffice_client.limited("main", Role.APPROVER) for _ in range(10)]
    path = f"{OFFICE}/approvals/{approval}/approve"

    said = await asyncio.gather(*(backoffice_client.ask("POST", path, by=who) for who in people))

    good = [each for each in said if each.status == 200]
    assert good
    assert all(each.verdict == (400, "VALIDATION_FAILED") for each in said if each not in good)
    assert len({each.document["approval"]["decided_by"] for each in good}) == 1
    assert (await backoffice_client.world.settled(reference))["status"] == "paid"
    assert await backoffice_client.world.executions(reference) == [1050]


async def test_nobody_approves_their_own_order(backoffice_client: BackofficeClient):
    who = await backoffice_client.limited("main", Role.OPERATOR, Role.APPROVER)
    approval, reference = await ordered(backoffice_client, who)

    said = await backoffice_client.ask("POST", f"{OFFICE}/approvals/{approval}/approve", by=who)

    assert said.verdict == (403, "FORBIDDEN")
    assert said.document["message"].endswith("Another person has to agree to an order of your own.")
    assert await backoffice_client.world.executions(reference) == []


async def test_what_was_rejected_is_not_paid(backoffice_client: BackofficeClient):
    approval, reference = await ordered(backoffice_client)
    path = f"{OFFICE}/approvals/{approval}"

    no = await backoffice_client.ask("POST", f"{path}/reject", {"reason": "unknown"}, by="approver")
    yes = await backoffice_client.ask("POST", f"{path}/approve", by="approver")

    assert (no.document["status"], no.document["reason"]) == ("rejected", "unknown")
    assert yes.verdict == (400, "VALIDATION_FAILED")
    assert await backoffice_client.world.executions(reference) == []


async def test_an_order_of_another_company_is_not_there(backoffice_client: BackofficeClient):
    approval, _ = await ordered(backoffice_client)
    who = await backoffice_client.limited("other", Role.APPROVER)

    for method, path in (("GET", ""), ("POST", "/approve"), ("POST", "/reject")):
        body = {} if path == "/reject" else None
        said = await backoffice_client.ask(
            method, f"{OFFICE}/approvals/{approval}{path}", body, by=who
        )
        assert said.verdict == (404, "NOT_FOUND")
    listed = await backoffice_client.ask("GET", f"{OFFICE}/approvals", by=who)
    assert listed.document["data"] == []


async def test_an_account_that_was_switched_off_meanwhile_pays_nothing(
    backoffice_client: BackofficeClient,
):
    approval, reference = await ordered(backoffice_client)
    await backoffice_client.ask("PATCH", backoffice_client.at(), {"active": False}, by="admin")

    said = await backoffice_client.ask(
        "POST", f"{OFFICE}/approvals/{approval}/approve", by="approver"
    )

    await backoffice_client.ask("PATCH", backoffice_client.at(), {"active": True}, by="admin")
    assert said.verdict == (400, "SVC.ACC.002")
    assert await backoffice_client.world.executions(reference) == []
