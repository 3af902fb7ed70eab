"""Management over a socket: companies, accounts, credentials, stops and the record of it all."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.surfaces.backoffice.management import OFFICE, issued
from tests.world.backoffice.client import BackofficeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

CNPJ = "11.222.333/0001-81"


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


async def test_a_company_with_an_account_and_a_bank_is_created(backoffice_client: BackofficeClient):
    """Until the account may act."""
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


async def test_an_act_is_on_record_with_the_trace_of_its_request(
    backoffice_client: BackofficeClient,
):
    """In every register, so that act, log line and request are found by one id."""
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
