"""Management over a socket: companies, accounts, credentials, stops and the record of it all."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.surfaces.backoffice.leaving import leaves
from tests.surfaces.backoffice.management import OFFICE, issued, main_company, pair
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import order as payout

pytestmark = pytest.mark.asyncio(loop_scope="module")

CNPJ = "11.222.333/0001-81"


async def test_a_credential_lives_from_its_issue_until_its_end(backoffice_client: BackofficeClient):
    """Issued by a person, used by a partner, revoked, and dead with the very next request."""
    made = await issued(backoffice_client)

    used = await backoffice_client.world.ask(
        "GET", backoffice_client.world.at("/balance"), pair=pair(made)
    )
    ended = await backoffice_client.ask(
        "POST", f"{OFFICE}/credentials/{made['client_id']}/revoke", {"reason": "x"}, by="admin"
    )
    dead = await backoffice_client.world.ask(
        "GET", backoffice_client.world.at("/balance"), pair=pair(made)
    )

    assert used.status == 200
    assert (ended.status, ended.document["state"]) == (200, "revoked")
    assert dead.verdict == (401, "SVC.AUT.010")


async def test_a_secret_is_shown_once(backoffice_client: BackofficeClient):
    made = await issued(backoffice_client)

    one = await backoffice_client.ask(
        "GET", f"{OFFICE}/credentials/{made['client_id']}", by="security"
    )
    listed = await backoffice_client.ask("GET", f"{OFFICE}/credentials", by="security")

    assert made["client_secret"].startswith("gws_")
    assert made["client_secret"].encode() not in one.body + listed.body
    assert one.document["state"] == "live"
    assert one.document in listed.document["data"]


async def test_both_secrets_live_while_a_rotation_overlaps(backoffice_client: BackofficeClient):
    made = await issued(backoffice_client)
    path = f"{OFFICE}/credentials/{made['client_id']}/rotate"

    said = await backoffice_client.ask("POST", path, {"overlap_s": 3600}, by="admin")
    again = await backoffice_client.ask("POST", path, {"overlap_s": 3600}, by="admin")

    for each in (made, dict(said.document)):
        answer = await backoffice_client.world.ask(
            "GET", backoffice_client.world.at("/balance"), pair=pair(each)
        )
        assert answer.status == 200
    assert said.document["old_secret_ends_at"]
    assert again.verdict == (400, "VALIDATION_FAILED")
    assert "Two secrets live until" in again.document["message"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"permissions": ["balance:steal"]},
        {"permissions": "balance:read"},
        {"name": ""},
        {"name": 7},
        {"name": "nul\u0000"},
        {"expires_at": "tomorrow"},
        {"expires_at": "2030-01-01T00:00:00"},
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"company_id": "none"},
        {"company_id": str(uuid.uuid4())},
        {"account_id": str(uuid.uuid4())},
    ],
)
async def test_a_wrong_order_is_told_apart_from_a_failure(
    backoffice_client: BackofficeClient, wrong: dict[str, object]
):
    order = {"name": "n", "company_id": main_company(backoffice_client), "permissions": [], **wrong}

    said = await backoffice_client.ask("POST", f"{OFFICE}/credentials", order, by="admin")

    assert said.verdict == (400, "VALIDATION_FAILED")


@pytest.mark.parametrize("client_id", ["cli_nobody", "%00", "%FF", "a%0Ab"])
async def test_an_unknown_credential_is_not_found(
    backoffice_client: BackofficeClient, client_id: str
):
    for method, path in (("GET", ""), ("POST", "/rotate"), ("POST", "/revoke")):
        body = None if method == "GET" else {}
        said = await backoffice_client.ask(
            method, f"{OFFICE}/credentials/{client_id}{path}", body, by="admin"
        )

        assert said.verdict == (404, "NOT_FOUND")


async def test_a_company_an_account_and_its_bank(backoffice_client: BackofficeClient):
    """From nothing to an account that may act."""
    company = await backoffice_client.ask(
        "POST", f"{OFFICE}/companies", {"name": "Nova Ltda"}, by="admin"
    )
    owner = company.document["id"]
    order = {"company_id": owner, "name": "Conta", "tax_number": CNPJ, "branch": "1"}
    account = await backoffice_client.ask("POST", f"{OFFICE}/accounts", order, by="admin")
    path = f"{OFFICE}/accounts/{account.document['id']}"
    bank = {"provider": "sandbox", "provider_account": "x", "credentials": "line one\nline two"}
    attached = await backoffice_client.ask("PUT", f"{path}/provider", bank, by="admin")
    changed = await backoffice_client.ask(
        "PATCH", path, {"active": True, "verified": True}, by="admin"
    )
    misspelt = await backoffice_client.ask("PATCH", path, {"actve": False}, by="admin")
    read = await backoffice_client.ask("GET", path, by="viewer")

    assert (misspelt.status, misspelt.document["reason"]) == (400, "unknown_field")
    assert company.status == account.status == 201
    assert (account.document["active"], account.document["verified"]) == (False, False)
    assert attached.document["has_credentials"] is True
    assert b"line one" not in attached.body + changed.body + read.body
    assert (changed.document["active"], changed.document["verified"]) == (True, True)
    assert changed.document["branch"] == "1"
    assert read.document["company"]["id"] == owner
    stored = await backoffice_client.world.gateway.kernel.store.accounts.find(
        account.document["id"]
    )
    assert b"line one" not in stored.sealed_credentials


async def test_another_bank_of_an_account_takes_two_people(backoffice_client: BackofficeClient):
    """The second one reads where from and where to, and never what the bank is to be shown."""
    order = {"company_id": main_company(backoffice_client), "name": "C", "tax_number": CNPJ}
    account = await backoffice_client.ask("POST", f"{OFFICE}/accounts", order, by="admin")
    path = f"{OFFICE}/accounts/{account.document['id']}"
    first, other = (
        {"provider": "sandbox", "provider_account": each, "credentials": f"canary of {each}"}
        for each in ("first", "other")
    )

    direct = await backoffice_client.ask("PUT", f"{path}/provider", first, by="admin")
    waits = await backoffice_client.ask("PUT", f"{path}/provider", other, by="admin")
    again = await backoffice_client.ask("PUT", f"{path}/provider", other, by="admin")
    there = f"{OFFICE}/approvals/{waits.document['id']}"
    shown = await backoffice_client.ask("GET", there, by="approver")
    own = await backoffice_client.ask("POST", f"{there}/approve", by="admin")
    before = await backoffice_client.ask("GET", path, by="viewer")
    agreed = await backoffice_client.ask("POST", f"{there}/approve", by="approver")
    after = await backoffice_client.ask("GET", path, by="viewer")

    assert (direct.status, waits.status, again.status, own.status) == (200, 202, 409, 403)
    assert shown.document["order"] == {
        "account_id": account.document["id"],
        "provider": "sandbox",
        "provider_account": "other",
        "provider_before": "sandbox",
        "provider_account_before": "first",
        "with_credentials": True,
        "certificate_ends_at": "",
    }
    assert b"canary" not in waits.body + shown.body + agreed.body + after.body
    assert before.document["provider_account"] == "first"
    assert agreed.document["status"] == "done"
    assert after.document["provider_account"] == "other"


async def test_an_id_that_is_taken_is_a_conflict(backoffice_client: BackofficeClient):
    again = {"name": "Twice", "id": main_company(backoffice_client)}

    said = await backoffice_client.ask("POST", f"{OFFICE}/companies", again, by="admin")

    assert said.verdict == (409, "SVC.GTW.009")


async def test_a_provider_that_is_not_configured_is_refused_by_name(
    backoffice_client: BackofficeClient,
):
    path = backoffice_client.at("/provider", "sister")

    said = await backoffice_client.ask(
        "PUT", path, {"provider": "moon", "provider_account": "1"}, by="admin"
    )

    assert said.verdict == (400, "VALIDATION_FAILED")
    assert (said.document["field"], said.document["reason"]) == ("provider", "provider_unknown")
    assert "moon" not in said.document["message"]


async def test_a_stop_holds_until_it_is_lifted(backoffice_client: BackofficeClient):
    account = backoffice_client.world.demo["accounts"]["sister"]["id"]
    order = {"scope": "account", "subject": account, "reason": "a test", "minutes": 5}

    pulled = await backoffice_client.ask("POST", f"{OFFICE}/stops", order, by="operator")
    path = f"{OFFICE}/stops/{pulled.document['id']}"
    held = await backoffice_client.ask("GET", f"{OFFICE}/stops", by="viewer")
    lifted = await leaves(backoffice_client, path, by="approver")
    after = await backoffice_client.ask("GET", f"{OFFICE}/stops", by="viewer")
    again = await leaves(backoffice_client, path, by="approver")

    assert pulled.status == 201
    assert pulled.document["created_by"].startswith("user:")
    assert pulled.document in held.document["data"]
    assert (lifted.status, lifted.body) == (204, b"")
    assert pulled.document not in after.document["data"]
    assert again.verdict == (404, "NOT_FOUND")


async def test_a_stop_is_in_force_before_it_is_answered(backoffice_client: BackofficeClient):
    """The partner's very next payout is refused; with the stop lifted it is paid."""
    world = backoffice_client.world
    account = world.demo["accounts"]["main"]["id"]
    asked = {"scope": "account", "subject": account, "reason": "fraud", "minutes": 5}
    before = await world.pay(payout(uuid.uuid4().hex, world.today(), value=1))

    pulled = await backoffice_client.ask("POST", f"{OFFICE}/stops", asked, by="operator")
    refused = await world.pay(payout("held", world.today(), value=1))
    await leaves(backoffice_client, f"{OFFICE}/stops/{pulled.document['id']}", by="approver")
    paid = await world.pay(payout("held", world.today(), value=1))

    assert (before.status, pulled.status, paid.status) == (200, 201, 200)
    assert refused.verdict == (403, "SVC.PIX.010")


async def test_every_act_is_on_record_under_the_person(backoffice_client: BackofficeClient):
    made = await issued(backoffice_client)
    query = f"subject=credential:{made['client_id']}&action=credential.*"

    found = await backoffice_client.ask("GET", f"{OFFICE}/audit?{query}", by="security")
    proof = await backoffice_client.ask("GET", f"{OFFICE}/audit/proof", by="security")

    act = found.document["data"][0]
    email = backoffice_client.world.demo["users"]["admin"]["email"]
    assert found.document["meta"]["total"] == 1
    assert (act["actor"], act["action"]) == (f"user:{email}", "credential.issued")
    assert made["client_secret"].encode() not in found.body
    assert proof.document["whole"] is True
    assert proof.document["events"] >= act["number"]


async def test_an_act_is_on_record_with_the_trace_of_its_request(
    backoffice_client: BackofficeClient,
):
    """In every register, so that act, log line and request are found by one word."""
    trace = {"X-Trace-ID": f"trace-{uuid.uuid4()}"}

    async def does(method: str, path: str, document: object = None) -> Any:
        said = await backoffice_client.ask(
            method, f"{OFFICE}{path}", document, by="admin", headers=trace
        )
        assert said.status in {200, 201, 204}, said.body
        return said.document if said.body else None

    company = await does("POST", "/companies", {"name": "Traced Ltda"})
    order = {"company_id": company["id"], "name": "Conta", "tax_number": CNPJ, "branch": "1"}
    account = await does("POST", "/accounts", order)
    await does("PATCH", f"/accounts/{account['id']}", {"active": True})
    wanted = {"name": "n", "company_id": company["id"], "permissions": []}
    credential = await does("POST", "/credentials", wanted)
    await does("POST", f"/credentials/{credential['client_id']}/rotate", {"overlap_s": 60})
    await does("POST", f"/credentials/{credential['client_id']}/revoke", {"reason": "x"})

    said = await backoffice_client.ask("GET", f"{OFFICE}/audit?limit=100", by="security")
    traced = [each for each in said.document["data"] if each["trace_id"] == trace["X-Trace-ID"]]
    assert [each["action"] for each in reversed(traced)] == [
        *("company.created", "account.created", "account.updated"),
        *("credential.issued", "credential.rotated", "credential.revoked"),
    ]


async def test_the_record_is_exported_a_line_an_act(backoffice_client: BackofficeClient):
    """The next export begins after the last number of this one."""
    kind = "application/x-ndjson"

    whole = await backoffice_client.ask("GET", f"{OFFICE}/audit/export", by="admin", kind=kind)
    lines = whole.body.splitlines()
    rest = await backoffice_client.ask(
        "GET", f"{OFFICE}/audit/export?after=3", by="admin", kind=kind
    )

    assert whole.headers["X-Content-Type-Options"] == "nosniff"
    assert whole.body.endswith(b"}\n")
    assert rest.body.splitlines()[: len(lines) - 3] == lines[3:]


@pytest.mark.parametrize(
    "query",
    ["since=today", "since=2026-01-01T00:00:00", "page=0", "limit=-1", "actor=", "actor=a&actor=b"],
)
async def test_a_filter_of_another_form_is_refused(backoffice_client: BackofficeClient, query: str):
    said = await backoffice_client.ask("GET", f"{OFFICE}/audit?{query}", by="admin")

    assert said.verdict == (400, "VALIDATION_FAILED")


async def test_a_body_that_is_no_object_is_refused(backoffice_client: BackofficeClient):
    for data in (b"", b"[]", b"{", b'{"a":1,"a":2}'):
        said = await backoffice_client.ask(
            "POST",
            f"{OFFICE}/companies",
            by="admin",
            data=data,
            headers={"Content-Type": "application/json"},
        )

        assert said.verdict == (400, "VALIDATION_FAILED")
