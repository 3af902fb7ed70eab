"""Four eyes hold against one person: credentials, roles and second factors take another one."""

from __future__ import annotations

import uuid

import pytest

from gateway.core.rights import Role
from provider_adapters.testing.demo.ensure import Pair
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import order

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "/backoffice/v1"
GONE = (404, "NOT_FOUND")


def main(backoffice_client: BackofficeClient) -> str:
    return str(backoffice_client.world.demo["companies"]["main"]["id"])


def paying(backoffice_client: BackofficeClient, **changed: object) -> dict[str, object]:
    return {
        "name": "ERP",
        "company_id": main(backoffice_client),
        "permissions": ["withdraw:write", "balance:read"],
    } | changed


def stranger(*roles: str) -> dict[str, object]:
    return {"email": f"{uuid.uuid4().hex}@example.com", "name": "New", "roles": list(roles)}


async def ordered(said: Answer) -> str:
    """Demand that an order waits; return its id."""
    assert said.status == 202, said.body
    assert said.document["status"] == "waiting"
    return str(said.document["id"])


async def approved(
    backoffice_client: BackofficeClient, approval: str, by: str = "approver"
) -> Answer:
    said = await backoffice_client.ask("POST", f"{OFFICE}/approvals/{approval}/approve", by=by)
    assert said.status == 200, said.body
    return said


async def secret(
    backoffice_client: BackofficeClient, approval: str, by: str = "security"
) -> Answer:
    return await backoffice_client.ask("POST", f"{OFFICE}/approvals/{approval}/secret", by=by)


async def pays(
    backoffice_client: BackofficeClient, pair: dict[str, str], value: float = 10.5
) -> Answer:
    document = order(f"four-{uuid.uuid4()}", backoffice_client.world.today(), value=value)
    who = Pair(client_id=pair["client_id"], client_secret=pair["client_secret"])
    return await backoffice_client.world.pay(document, pair=who)


async def test_one_user_alone_issues_no_credential_that_pays(backoffice_client: BackofficeClient):
    """The first attack: a secret in the answer, used to move money."""
    before = await backoffice_client.ask("GET", f"{OFFICE}/credentials", by="security")

    said = await backoffice_client.ask(
        "POST", f"{OFFICE}/credentials", paying(backoffice_client), by="security"
    )
    approval = await ordered(said)
    own = await backoffice_client.ask(
        "POST", f"{OFFICE}/approvals/{approval}/approve", by="security"
    )
    early = await secret(backoffice_client, approval)

    after = await backoffice_client.ask("GET", f"{OFFICE}/credentials", by="security")
    assert b"gws_" not in said.body
    assert own.verdict == (403, "FORBIDDEN")
    assert early.verdict == GONE
    assert before.document["meta"] == after.document["meta"]


async def test_two_people_issue_a_credential_and_its_secret_is_shown_once(
    backoffice_client: BackofficeClient,
):
    said = await backoffice_client.ask(
        "POST",
        f"{OFFICE}/credentials",
        paying(backoffice_client, limit_per_payout=10.50, limit_per_day=1000),
        by="security",
    )
    approval = await ordered(said)
    read = await backoffice_client.ask("GET", f"{OFFICE}/approvals/{approval}", by="approver")

    decided = await approved(backoffice_client, approval)
    other = await secret(backoffice_client, approval, by="admin")
    made = await secret(backoffice_client, approval)
    twice = await secret(backoffice_client, approval)
    after = await backoffice_client.ask("GET", f"{OFFICE}/approvals/{approval}", by="approver")

    assert read.document["approval"]["company_id"] == main(backoffice_client)
    assert read.document["order"] == {
        "name": "ERP",
        "permissions": ["balance:read", "withdraw:write"],
        "expires_at": "",
        "callers": {"networks": [], "certificates": [], "anywhere": True},
        "limit_per_payout": 10.50,
        "limit_per_day": 1000.00,
    }
    assert decided.document["status"] == "done"
    assert decided.document["approval"]["secret_until"] != ""
    assert (other.verdict, made.status, twice.verdict) == (GONE, 201, GONE)
    assert after.document["approval"]["outcome"] == {"status": "done", "code": ""}
    assert after.document["approval"]["secret_until"] == ""
    assert (await pays(backoffice_client, made.document)).status == 200
    assert (await pays(backoffice_client, made.document, 10.51)).verdict == (403, "SVC.GTW.010")


@pytest.mark.parametrize(
    ("by", "roles", "verdict"),
    [
        ("security", ["admin", "operator", "approver", "security"], (403, "FORBIDDEN")),
        ("security", ["admin"], (403, "FORBIDDEN")),
        ("security", ["security"], (202, "")),
        ("security", ["operator", "approver"], (202, "")),
        ("admin", ["admin", "operator", "approver", "security"], (202, "")),
    ],
)
async def test_no_user_can_grant_a_right_they_lack(
    backoffice_client: BackofficeClient, by: str, roles: list[str], verdict: tuple[int, str]
):
    """The third attack; rights over money need a second person instead."""
    invited = await backoffice_client.ask("POST", f"{OFFICE}/users", stranger(*roles), by=by)
    somebody = await backoffice_client.ask("POST", f"{OFFICE}/users", stranger("viewer"), by=by)
    path = f"{OFFICE}/users/{somebody.document['id']}/roles"
    given = await backoffice_client.ask("PUT", path, {"roles": ["viewer", *roles]}, by=by)

    assert (invited.verdict, given.verdict) == (verdict, verdict)


async def test_a_factor_of_a_user_with_write_rights_is_reset_by_two_people(
    backoffice_client: BackofficeClient,
):
    who = await backoffice_client.limited("main", Role.OPERATOR)
    listed = await backoffice_client.ask("GET", f"{OFFICE}/users", by="admin")
    [found] = [each for each in listed.document["data"] if each["email"] == who]
    path = f"{OFFICE}/users/{found['id']}"

    said = await backoffice_client.ask("POST", f"{path}/reset-mfa", by="admin")
    approval = await ordered(said)
    before = await backoffice_client.ask("GET", path, by="admin")
    await approved(backoffice_client, approval)
    after = await backoffice_client.ask("GET", path, by="admin")

    assert (before.document["has_factor"], after.document["has_factor"]) == (True, False)
