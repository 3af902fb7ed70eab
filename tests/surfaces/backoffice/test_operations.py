"""Every operation of the second listing, on real data of the sandbox bank (contract 4.3)."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from gateway.banks.port.refunds import IncomingStatus
from gateway.core.money import Money
from gateway.payouts.model import provider_key
from gateway.reports.formats import FORMATS
from tests.world.backoffice.client import NOBODY, BackofficeClient
from tests.world.backoffice.operations import (
    BANK_PAYEE,
    PAYEE,
    days,
    generated,
    paid,
    today,
    withdrawing,
)
from tests.world.gateway.world import order
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_accounts_are_listed_with_their_companies(backoffice_client: BackofficeClient):
    """Contract 2.10: an operator without a company limit sees all of them."""
    listed = (
        await backoffice_client.ask("GET", "/backoffice/v1/accounts?limit=100", by="viewer")
    ).document

    demo = backoffice_client.world.demo
    assert {each["id"] for each in listed["data"]} == {
        each["id"] for each in demo["accounts"].values()
    }
    assert listed["meta"] == {"page": 1, "limit": 100, "total": len(demo["accounts"])}
    owners = {each["company"]["id"] for each in listed["data"]}
    assert owners == {each["id"] for each in demo["companies"].values()}
    assert all(each["company"]["name"] for each in listed["data"])


async def test_operators_read_the_same_payouts_as_partners(backoffice_client: BackofficeClient):
    """The same operations: byte by byte, but for a CPF, which is shown in part."""
    world = backoffice_client.world
    paths = (
        "/pix/keys",
        f"/pix/keys/{world.demo['pix_keys']['main'][0]}",
        f"/pix/qrcode/{world.demo['charges']['paid']}",
    )

    for path in paths:
        ours, theirs = await backoffice_client.read(path), await world.ask("GET", world.at(path))
        shown = theirs.body.replace(b"52998224725", b"***.982.247-**")
        assert (ours.status, ours.body) == (theirs.status, shown)


async def test_the_balance_and_the_statement_are_live(backoffice_client: BackofficeClient):
    account = backoffice_client.world.demo["accounts"]["main"]["id"]
    before = (await backoffice_client.read("/balance")).document["balance"]

    await backoffice_client.world.control.post("accounts", account, "top-up", body={"value": 10.5})
    after = (await backoffice_client.read("/balance")).document["balance"]
    shown = (await backoffice_client.read(f"/transactions{days(backoffice_client)}")).document

    assert round(after - before, 2) == 10.5
    assert shown["balance"]["balance"] == after
    assert shown["account"]["account"]


@pytest.mark.parametrize("form", FORMATS)
async def test_a_report_is_a_file(backoffice_client: BackofficeClient, form: str):
    """Named in ASCII after account and days, with nosniff."""
    kind = FORMATS[form].media_type

    answer = await backoffice_client.ask(
        "GET",
        backoffice_client.at(f"/report{days(backoffice_client)}&format={form}"),
        by="viewer",
        kind=kind,
    )

    account, day = (
        backoffice_client.world.demo["accounts"]["main"]["id"],
        backoffice_client.world.today(),
    )
    assert answer.status == 200
    assert answer.headers["Content-Disposition"] == (
        f'attachment; filename="statement_{account}_{day}_{day}.{form}"'
    )
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    beginning = {"csv": b"", "ofx": b"", "json": b"{", "pdf": b"%PDF-"}[form]
    assert answer.body.startswith(beginning)
    assert len(answer.body) > 100


async def test_a_pix_key_is_registered_read_and_cancelled(backoffice_client: BackofficeClient):
    """201 with the key; a repeat is in use; after cancelling it stays readable."""
    named = {"type": "email", "key": f"{uuid.uuid4().hex}@Example.com"}

    made = await backoffice_client.post("/pix/keys", named)
    again = await backoffice_client.post("/pix/keys", named)
    path = f"/pix/keys/{made.document['id']}"
    gone = [await backoffice_client.ask("DELETE", backoffice_client.at(path)) for _ in range(2)]
    read = await backoffice_client.read(path)

    assert (made.status, made.document["status"]) == (201, "active")
    assert made.document["key"] == named["key"].lower()
    assert again.verdict == (409, "SVC.GTW.009")
    assert "in use" in again.document["message"]
    assert [each.status for each in gone] == [200, 200]
    assert read.document == gone[0].document == {**made.document, "status": "canceled"}


async def test_the_owner_of_a_key_is_shown_with_a_masked_tax_number(
    backoffice_client: BackofficeClient,
):
    told = (await backoffice_client.post("/pix/keys/lookup", {"key": "Maria@Example.com"})).document

    assert (told["key"], told["type"]) == ("maria@example.com", "email")
    assert told["name"]
    assert told["tax_number"].startswith("***.")


async def test_a_qr_code_is_generated_read_and_cancelled(backoffice_client: BackofficeClient):
    """The DELETE answers the QR code with status Canceled (contract 4.3); it is repeatable."""
    made = await generated(backoffice_client)
    path = f"/pix/qrcode/{made['reference']}"

    read = await backoffice_client.read(path)
    by_partner = await backoffice_client.world.ask("GET", backoffice_client.world.at(path))
    gone = [await backoffice_client.ask("DELETE", backoffice_client.at(path)) for _ in range(2)]

    assert (made["type"], made["value"], made["status"]) == ("Dynamic", 10.5, "Active")
    assert made["payer"]["tax_number"] == "***.982.247-**"
    assert made["qrcode"]["hash"].startswith("000201")
    assert read.document == made
    whole = {**made["payer"], "tax_number": "52998224725"}
    assert by_partner.document == {**made, "payer": whole}
    assert [each.document for each in gone] == [{**made, "status": "Canceled"}] * 2


async def test_payments_received_are_searched(backoffice_client: BackofficeClient):
    """Newest first, by status, in pages."""
    charge = await paid(backoffice_client)

    found = (
        await backoffice_client.post("/pix/transactions/search", today(backoffice_client))
    ).document
    none = (
        await backoffice_client.post(
            "/pix/transactions/search", {**today(backoffice_client), "status": "refunded"}
        )
    ).document
    second = (
        await backoffice_client.post(
            "/pix/transactions/search", {**today(backoffice_client), "page": 2, "limit": 1}
        )
    ).document

    newest = found["data"][0]
    assert (newest["reference"], newest["value"]) == (charge["reference"], 10.5)
    assert (newest["status"], newest["refunded"]) == (IncomingStatus.PAID, 0)
    assert newest["payer"]["name"] == "Maria Silva"
    assert newest["reference"] not in {each["reference"] for each in none["data"]}
    assert second["data"] == found["data"][1:2]
    assert second["meta"] == {"page": 2, "limit": 1, "total": found["meta"]["total"]}


@pytest.mark.parametrize(
    ("path", "payee"), [("/withdraw/pix", PAYEE), ("/withdraw/bank-account", BANK_PAYEE)]
)
async def test_a_payout_awaits_approval_by_another_person(
    backoffice_client: BackofficeClient, path: str, payee: object
):
    """Until then no payout is visible to the partner or to users."""
    reference = uuid.uuid4().hex

    waiting = await backoffice_client.post(
        path, withdrawing(backoffice_client, reference, destination=payee)
    )
    read = await backoffice_client.read(f"/withdraw/{reference}")
    by_partner = await backoffice_client.world.ask(
        "GET", backoffice_client.world.at(f"/withdraw/{reference}")
    )

    assert (waiting.status, waiting.document["status"]) == (202, "waiting")
    assert read.verdict == by_partner.verdict == (404, "SVC.PIX.011")
    assert await backoffice_client.world.executions(reference) == []


async def test_an_existing_payout_is_read_searched_and_returned_for_a_repeat(
    backoffice_client: BackofficeClient,
):
    """200, and paid once."""
    world, reference = backoffice_client.world, uuid.uuid4().hex
    await world.pay(order(reference, world.today()))
    settled = await world.settled(reference)

    read = await backoffice_client.read(f"/withdraw/{reference}")
    found = await backoffice_client.post(
        "/withdraws/search", {**today(backoffice_client), "limit": 100}
    )
    again = await backoffice_client.post("/withdraw/pix", withdrawing(backoffice_client, reference))
    other = await backoffice_client.post(
        "/withdraw/pix", withdrawing(backoffice_client, reference, value=11)
    )

    hidden = {"tax_number": "***.982.247-**", "key": "m•••••@e•••••.com"}
    shown = {**settled, "destination": {**settled["destination"], **hidden}}
    assert read.document == {**shown, "held_until": "", "returns": []}
    assert shown in found.document["data"]
    assert (again.status, again.document["status"]) == (200, "processing")
    assert other.verdict == (400, "SVC.PIX.010")
    assert await world.executions(reference) == [1050]


async def test_a_held_payout_is_shown_in_each_state_until_it_is_returned(
    backoffice_client: BackofficeClient,
):
    """Partners see a payout that is processing, then paid, and nothing else."""
    world, reference = backoffice_client.world, uuid.uuid4().hex
    account = world.demo["accounts"]["main"]["id"]
    key = provider_key(world.gateway.kernel.settings.environment, account, reference)
    path = f"/withdraw/{reference}"
    await world.control.post("accounts", account, "hold", body={"seconds": 600})

    made = await world.pay(order(reference, world.today()))
    held = (await backoffice_client.read(path)).document
    told = (await world.ask("GET", world.at(path))).document
    await world.control.post("payouts", key, "release", body={})
    settled = await world.settled(reference)
    await world.control.post("payouts", key, "return", body={"value": Money(400)})
    back = await _with_return(backoffice_client, path)

    assert (made.status, made.document["status"]) == (200, "processing")
    assert held["held_until"] > held["created_at"]
    assert told == {name: held[name] for name in told} | {"destination": told["destination"]}
    assert told["status"] == "processing"
    assert not {"held_until", "returns"} & told.keys()
    assert settled["status"] == back["status"] == "paid"
    assert back["held_until"] == ""
    assert [each["value"] for each in back["returns"]] == [4.0]
    assert back["returns"][0]["id"].startswith("D")


async def _with_return(backoffice_client: BackofficeClient, path: str) -> dict[str, Any]:
    """Read a payout until its bank's callback has reported a return."""

    async def shown() -> dict[str, Any] | None:
        document = (await backoffice_client.read(path)).document
        return dict(document) if document["returns"] else None

    return dict(await until(shown))


async def test_error_codes_of_every_catalogue_are_listed(backoffice_client: BackofficeClient):
    """Of banking, of identity, and of the gateway."""
    told = (await backoffice_client.ask("GET", "/backoffice/v1/error-codes", by=NOBODY)).document

    codes = {each["code"] for each in told["data"]}
    assert {"SVC.GTW.008", "SVC.PIX.018", "STEP_UP_REQUIRED", "SVC.AUT.001"} <= codes
    assert told["meta"]["total"] == len(told["data"])
