"""Every operation of the second listing, on real data of the sandbox bank (contract 4.3)."""

from __future__ import annotations

import csv
import io
import uuid
from typing import Any

import pytest

from gateway.audit.model import AuditSearch
from gateway.audit.service import find_acts
from gateway.banks.port.refunds import IncomingStatus
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.money import Money
from gateway.core.windows import Paging
from gateway.payouts.model import provider_key
from gateway.reports.formats import FORMATS
from tests.world.backoffice.client import NOBODY, BackofficeClient
from tests.world.backoffice.operations import (
    BANK_PAYEE,
    PAYEE,
    days,
    generated,
    own_key,
    paid,
    today,
    withdrawing,
)
from tests.world.gateway.world import order
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_accounts_are_listed_with_their_companies(backoffice_client: BackofficeClient):
    """Contract 2.10: an operator of no company in particular sees all of them."""
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


async def test_accounts_are_paged_and_asked_for_by_company(backoffice_client: BackofficeClient):
    other = backoffice_client.world.demo["companies"]["other"]["id"]
    path = "/backoffice/v1/accounts"

    second = (await backoffice_client.ask("GET", f"{path}?limit=1&page=2")).document
    of_other = (await backoffice_client.ask("GET", f"{path}?company_id={other.upper()}")).document
    of_nobody = (await backoffice_client.ask("GET", f"{path}?company_id={uuid.uuid4()}")).document

    assert (len(second["data"]), second["meta"]["page"]) == (1, 2)
    assert {each["company"]["id"] for each in of_other["data"]} == {other}
    assert (of_nobody["data"], of_nobody["meta"]["total"]) == ([], 0)


@pytest.mark.parametrize("account", ["main", "inactive", "unverified", "no_provider"])
async def test_an_account_is_read_in_whatever_state(
    backoffice_client: BackofficeClient, account: str
):
    read = (await backoffice_client.read("", account)).document

    listed = (await backoffice_client.ask("GET", "/backoffice/v1/accounts?limit=100")).document[
        "data"
    ]
    assert read in listed
    assert read["id"] == backoffice_client.world.demo["accounts"][account]["id"]
    assert read["active"] is (account != "inactive")
    assert read["verified"] is (account != "unverified")
    assert set(read) == {
        "id", "company", "name", "tax_number", "active", "verified", "provider",
        "provider_account", "has_credentials", "certificate_ends_at",
        "bank_number", "ispb", "branch", "account", "created_at",
    }  # fmt: skip


async def test_what_partners_read_operators_read_alike(backoffice_client: BackofficeClient):
    """The same operations: byte by byte."""
    world = backoffice_client.world
    paths = (
        "/pix/keys",
        f"/pix/keys/{world.demo['pix_keys']['main'][0]}",
        f"/pix/qrcode/{world.demo['charges']['paid']}",
    )

    for path in paths:
        ours, theirs = await backoffice_client.read(path), await world.ask("GET", world.at(path))
        assert (ours.status, ours.body) == (theirs.status, theirs.body)


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
    """Named in ASCII after account and days, and never sniffed."""
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


async def test_a_report_has_what_is_not_pix_and_a_brazilian_form(
    backoffice_client: BackofficeClient,
):
    """Part of the back office alone: the partner's statement leaves it out."""
    kind = FORMATS["csv"].media_type
    path = backoffice_client.at(f"/report{days(backoffice_client)}&format=csv")

    plain = await backoffice_client.ask("GET", path, kind=kind)
    brazilian = await backoffice_client.ask("GET", f"{path}&locale=pt-BR", kind=kind)

    statement = (
        await backoffice_client.read(f"/transactions{days(backoffice_client)}&limit=100")
    ).document
    told = list(csv.reader(io.StringIO(plain.body.decode("utf-8-sig"))))
    assert len(told) - 1 >= statement["meta"]["total"]
    assert plain.body != brazilian.body


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("format=csv", "SVC.VAL.001"),
        ("init=2026-01-01&ends=2026-01-02", "SVC.VAL.001"),
        ("init=2026-01-01&ends=2026-01-02&format=xls", "SVC.VAL.011"),
        ("init=2026-01-01&ends=2026-01-02&format=csv&format=csv", "SVC.VAL.011"),
        ("init=2026-01-01&ends=2026-01-02&format=csv&locale=de", "SVC.VAL.011"),
        ("init=2026-01-02&ends=2026-01-01&format=csv", "SVC.VAL.008"),
        ("init=yesterday&ends=2026-01-01&format=csv", "SVC.VAL.007"),
    ],
)
async def test_a_report_is_asked_for_exactly(
    backoffice_client: BackofficeClient, query: str, code: str
):
    assert (await backoffice_client.read(f"/report?{query}")).verdict == (400, code)


async def test_a_key_is_registered_read_and_given_up(backoffice_client: BackofficeClient):
    """201 with the key; a second time it is in use; given up, it stays readable."""
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


async def test_the_bank_draws_a_random_key(backoffice_client: BackofficeClient):
    made = (await backoffice_client.post("/pix/keys", {"type": "evp"})).document

    assert (made["type"], str(uuid.UUID(made["key"]))) == ("evp", made["key"])


async def test_the_owner_of_a_key_is_shown_without_the_ends_of_a_tax_number(
    backoffice_client: BackofficeClient,
):
    told = (await backoffice_client.post("/pix/keys/lookup", {"key": "Maria@Example.com"})).document

    assert (told["key"], told["type"]) == ("maria@example.com", "email")
    assert told["name"]
    assert told["tax_number"].startswith("***.")


@pytest.mark.parametrize("who", ["viewer", "approver", "operator"])
async def test_whoever_reads_keys_may_ask_whose_one_is(
    backoffice_client: BackofficeClient, who: str
):
    """An approver has to see where money goes; it is on record as every look-up."""
    said = await backoffice_client.ask(
        "POST", backoffice_client.at("/pix/keys/lookup"), {"key": "maria@example.com"}, by=who
    )

    assert said.status == 200


async def test_a_key_of_nobody_is_not_found(backoffice_client: BackofficeClient):
    asked = {"type": "email", "key": "notfound@example.com"}

    assert (await backoffice_client.post("/pix/keys/lookup", asked)).verdict == (404, "SVC.PIX.002")


async def test_a_qr_code_is_generated_read_and_cancelled(backoffice_client: BackofficeClient):
    """The DELETE answers the QR code with status Canceled (contract 4.3); it is repeatable."""
    made = await generated(backoffice_client)
    path = f"/pix/qrcode/{made['reference']}"

    read = await backoffice_client.read(path)
    by_partner = await backoffice_client.world.ask("GET", backoffice_client.world.at(path))
    gone = [await backoffice_client.ask("DELETE", backoffice_client.at(path)) for _ in range(2)]

    assert (made["type"], made["value"], made["status"]) == ("Dynamic", 10.5, "Active")
    assert made["payer"]["tax_number"] == "52998224725"
    assert made["qrcode"]["hash"].startswith("000201")
    assert read.document == by_partner.document == made
    assert [each.document for each in gone] == [{**made, "status": "Canceled"}] * 2


async def test_a_qr_code_of_an_open_amount_asks_anybody(backoffice_client: BackofficeClient):
    made = await generated(
        backoffice_client, type="Static", value=None, payer=None, expires_in=None
    )

    assert (made["value"], made["expires_at"]) == (0, "")
    assert "payer" not in made
    assert made["reusable"] is True


async def test_two_static_codes_of_one_key_and_amount_differ(backoffice_client: BackofficeClient):
    made = [
        await generated(backoffice_client, type="Static", reference=str(uuid.uuid4()), payer=None)
        for _ in range(2)
    ]

    assert made[0]["qrcode"] != made[1]["qrcode"]


async def test_a_reference_is_one_qr_code(backoffice_client: BackofficeClient):
    made = await generated(backoffice_client)
    key = await own_key(backoffice_client)

    again = await backoffice_client.post(
        "/pix/qrcode", {"reference": made["reference"], "type": "Dynamic", "key": key}
    )

    assert again.verdict == (409, "SVC.GTW.009")


async def test_a_paid_qr_code_is_not_cancelled(backoffice_client: BackofficeClient):
    charge = await paid(backoffice_client)

    refused = await backoffice_client.ask(
        "DELETE", backoffice_client.at(f"/pix/qrcode/{charge['reference']}")
    )

    assert refused.verdict == (422, "SVC.GTW.008")
    assert refused.document["message"].endswith("The charge is paid already.")


async def test_what_came_in_is_searched(backoffice_client: BackofficeClient):
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


async def test_a_refund_waits_for_another_person(backoffice_client: BackofficeClient):
    """Four eyes: 202, no money moved, and no refund to be read yet."""
    charge = await paid(backoffice_client)
    asked = {"reference": uuid.uuid4().hex, "value": 3.25, "description": "uma parte"}
    path = f"/pix/transactions/{charge['reference']}/refunds"

    waiting = await backoffice_client.post(path, asked)
    again = await backoffice_client.post(path, asked)
    read = await backoffice_client.read(f"/pix/refunds/{asked['reference']}")

    assert waiting.status == 202
    told = waiting.document
    assert (told["status"], told["kind"], told["value"]) == ("waiting", "refund", 3.25)
    assert told["ordered_by"] == "user:operator@example.com"
    assert (told["decided_by"], told["decided_at"]) == ("", "")
    assert again.verdict == (409, "SVC.GTW.009")
    assert read.verdict == (404, "SVC.PIX.017")


@pytest.mark.parametrize(
    ("path", "payee"), [("/withdraw/pix", PAYEE), ("/withdraw/bank-account", BANK_PAYEE)]
)
async def test_a_withdraw_waits_for_another_person(
    backoffice_client: BackofficeClient, path: str, payee: object
):
    """Invisible until then: no payout, to the partner nor here."""
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


async def test_a_payout_that_is_there_is_read_searched_and_answered_for(
    backoffice_client: BackofficeClient,
):
    """Ordered with the same content it is the same payout: 200, and paid once."""
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


async def test_what_is_blocked_is_told_with_its_reason(backoffice_client: BackofficeClient):
    world = backoffice_client.world
    account = world.demo["accounts"]["main"]["id"]
    wanted = {"value": Money(125), "kind": "court", "reference": "0001-22"}
    await world.control.post("accounts", account, "block", body=wanted)
    try:
        listed = (await backoffice_client.read("/blocks")).document
    finally:
        await world.control.post("accounts", account, "unblock", body={"value": Money(125)})

    [block] = [each for each in listed["data"] if each["reference"] == "0001-22"]
    assert (block["kind"], block["value"]) == ("court", 1.25)
    assert round(sum(each["value"] for each in listed["data"]), 2) == listed["blocked"]


async def test_a_held_payout_that_settles_and_comes_back_is_shown_as_it_stands(
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
    """Read a payout until its bank's callback has told of a return."""

    async def shown() -> dict[str, Any] | None:
        document = (await backoffice_client.read(path)).document
        return dict(document) if document["returns"] else None

    return dict(await until(shown))


async def test_payouts_are_searched_by_how_they_stand(backoffice_client: BackofficeClient):
    """Three words, as everywhere; each payout has one of them."""
    world, paid_one, failed_one = backoffice_client.world, uuid.uuid4().hex, uuid.uuid4().hex
    await world.pay(order(paid_one, world.today()))
    await world.pay(order(failed_one, world.today(), value=777.02))
    await world.settled(paid_one)
    await world.settled(failed_one)

    found = {
        status: (
            await backoffice_client.post(
                "/withdraws/search", {**today(backoffice_client), "status": status, "limit": 100}
            )
        ).document
        for status in ("processing", "paid", "failed", "")
    }

    by_status = {
        status: {each["reference"] for each in page["data"]} for status, page in found.items()
    }
    assert paid_one in by_status["paid"]
    assert failed_one in by_status["failed"]
    assert {paid_one, failed_one}.isdisjoint(by_status["processing"])
    everything = found.pop("")["meta"]["total"]
    assert everything == sum(page["meta"]["total"] for page in found.values())


async def test_no_payout_is_ever_taken_back(backoffice_client: BackofficeClient):
    """501 here too; its reference is not looked up (contract part 3)."""
    answer = await backoffice_client.ask("DELETE", backoffice_client.at("/withdraw/whatever"))

    assert answer.verdict == (501, "SVC.PIX.018")


@pytest.mark.parametrize("path", ["info", "health", "error-codes"])
async def test_what_it_is_needs_no_token(backoffice_client: BackofficeClient, path: str):
    answer = await backoffice_client.ask("GET", f"/backoffice/v1/{path}", by=NOBODY)

    assert answer.status == 200


async def test_every_catalogue_is_told(backoffice_client: BackofficeClient):
    """Of banking, of people, of the gateway."""
    told = (await backoffice_client.ask("GET", "/backoffice/v1/error-codes", by=NOBODY)).document

    codes = {each["code"] for each in told["data"]}
    assert {"SVC.GTW.008", "SVC.PIX.018", "STEP_UP_REQUIRED", "SVC.AUT.001"} <= codes
    assert told["meta"]["total"] == len(told["data"])


async def test_what_changes_at_a_bank_is_in_the_audit_log(backoffice_client: BackofficeClient):
    """In the person's name, and without the key."""
    key = f"{uuid.uuid4().hex}@example.com"
    await backoffice_client.post("/pix/keys", {"type": "email", "key": key})

    database = backoffice_client.world.gateway.kernel.store.database

    found = await find_acts(database, AuditSearch(paging=Paging(1, 2)), EVERY_COMPANY)
    assert [each.event.action for each in found.items] == [
        "pix_key.create.done", "pix_key.create.ordered",
    ]  # fmt: skip
    assert {each.event.actor for each in found.items} == {"user:operator@example.com"}
    assert key not in repr(found.items)


async def test_a_top_up_beyond_an_amount_is_refused_before_it_is_booked(
    backoffice_client: BackofficeClient,
):
    account = backoffice_client.world.demo["accounts"]["main"]["id"]
    before = (await backoffice_client.read("/balance")).document["balance"]

    said = await backoffice_client.ask(
        "POST",
        "/backoffice/v1/sandbox/top-ups",
        {"account_id": account, "value": 9_999_999_999_999.99},
    )

    assert said.status == 400, said.body
    assert (said.document["field"], said.document["reason"]) == ("value", "balance_limit")
    assert (await backoffice_client.read("/balance")).document["balance"] == before
