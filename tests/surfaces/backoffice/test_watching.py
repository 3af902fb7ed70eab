"""What operators watch: requests, providers, the sandbox's mail, payouts in review."""

from __future__ import annotations

import uuid
from typing import Any

import msgspec
import pytest

from gateway.config.effective import effective
from tests.world.backoffice.client import BackofficeClient
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "/backoffice/v1"


async def logged(
    backoffice_client: BackofficeClient, query: str, by: str = "security"
) -> list[dict[str, Any]]:
    """Wait until the request log has something to this query; it is written every second."""

    async def found() -> list[dict[str, Any]]:
        await backoffice_client.world.write_request_log()
        said = await backoffice_client.ask("GET", f"{OFFICE}/requests?{query}", by=by)
        assert said.status == 200
        return list(said.document["data"])

    return list(await until(found))


async def test_a_partners_request_is_found_by_its_trace(backoffice_client: BackofficeClient):
    trace = f"trace-{uuid.uuid4()}"
    secret = backoffice_client.world.pair("full")["client_secret"]
    path = backoffice_client.world.at("/transactions?init=2026-11-01&ends=2026-11-02&secret=x")
    await backoffice_client.world.ask("GET", path, headers={"X-Trace-ID": trace})

    (found,) = await logged(backoffice_client, f"trace_id={trace}")

    assert (found["route"], found["status"]) == ("banking.statement", 200)
    assert found["client_id"] == backoffice_client.world.pair("full")["client_id"]
    assert found["line"]["event"] == "access"
    told = str(found)
    assert secret not in told
    assert "secret=x" not in told
    account_id = backoffice_client.world.demo["accounts"]["main"]["id"]
    assert (found["method"], found["account_id"]) == ("GET", account_id)
    assert account_id not in str(found["line"])


async def test_providers_are_shown_with_their_last_call(backoffice_client: BackofficeClient):
    await backoffice_client.world.ask("GET", backoffice_client.world.at("/balance"))

    said = await backoffice_client.ask("GET", f"{OFFICE}/providers", by="viewer")

    (one,) = [each for each in said.document["data"] if each["name"] == "sandbox"]
    assert one["last_outcome"] == "ok"
    assert one["last_ok_at"]
    assert "create_refund" in one["operations"]


async def test_reading_sandbox_mail_requires_a_right(backoffice_client: BackofficeClient):
    order = {"email": f"{uuid.uuid4().hex}@example.com", "name": "N", "roles": ["viewer"]}
    await backoffice_client.ask("POST", f"{OFFICE}/users", order, by="admin")

    said = await backoffice_client.ask("GET", f"{OFFICE}/mailbox", by="security")
    none = await backoffice_client.ask("GET", f"{OFFICE}/mailbox", by="operator")

    assert order["email"] in {each["to"] for each in said.document["data"]}
    assert none.verdict == (403, "FORBIDDEN")


async def test_the_configuration_is_shown_without_its_secrets(backoffice_client: BackofficeClient):
    """The output of ``pixgate config``; its schema revision is the newest."""
    settings = backoffice_client.world.gateway.kernel.settings

    said = await backoffice_client.ask("GET", f"{OFFICE}/config", by="admin")
    denied = await backoffice_client.ask("GET", f"{OFFICE}/config", by="operator")

    told = said.document
    assert told["migrations"]["current"] == told["migrations"]["wanted"]
    assert told["config"]["environment"] == told["environment"] == "sandbox"
    assert told["config"] == msgspec.json.decode(msgspec.json.encode(effective(settings)))
    assert denied.verdict == (403, "FORBIDDEN")
