"""One person alone lets nobody who may write reach further: not by companies, not by enabling."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import pytest

from gateway.core.rights import Role
from gateway.core.schemas import ReasonBody
from gateway.identity.model import CompaniesBody, InvitationBody
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.answers import Answer
from tests.world.people import CLI

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "/backoffice/v1"
COMPANIES, ENABLING = "companies", "enabling"
ACTS = [COMPANIES, ENABLING]


@dataclass
class Colleague:
    """Somebody of the demo's other company, and what an admin does with them."""

    backoffice_client: BackofficeClient
    user_id: str

    @property
    def path(self) -> str:
        return f"{OFFICE}/users/{self.user_id}"

    async def ask(self, act: str, by: str = "admin") -> Answer:
        """Show them every company, or let them in again."""
        if act == ENABLING:
            return await self.backoffice_client.ask("POST", f"{self.path}/enable", by=by)
        return await self.show([], by=by)

    async def show(self, companies: list[str], by: str = "admin") -> Answer:
        """Show them these companies."""
        body = {"companies": companies}
        return await self.backoffice_client.ask("PUT", f"{self.path}/companies", body, by=by)

    async def reaches(self, act: str) -> bool:
        """Say whether they have what the act gives."""
        found = (await self.backoffice_client.ask("GET", self.path, by="admin")).document
        return found["state"] != "disabled" if act == ENABLING else found["companies"] == []


def company(backoffice_client: BackofficeClient, name: str) -> str:
    """A company of the demo."""
    return str(backoffice_client.world.demo["companies"][name]["id"])


async def colleague(backoffice_client: BackofficeClient, act: str, *roles: Role) -> Colleague:
    """Make somebody who sees one company; disabled where they are to be enabled."""
    users = backoffice_client.world.gateway.services.identity.services.users
    order = InvitationBody(
        email=f"{uuid.uuid4().hex}@example.com",
        name="Limited",
        roles=list(roles),
        companies=[company(backoffice_client, "other")],
    )
    made = await users.create(CLI, order)
    if act == ENABLING:
        await users.disable(CLI, made.id, ReasonBody("fraud"))
    return Colleague(backoffice_client, made.id)


async def decided(backoffice_client: BackofficeClient, said: Answer, by: str) -> Answer:
    """Agree to an order that waits."""
    assert said.status == 202, said.body
    path = f"{OFFICE}/approvals/{said.document['id']}/approve"
    return await backoffice_client.ask("POST", path, by=by)


async def test_an_operator_who_two_people_limited_is_not_widened_by_one(
    backoffice_client: BackofficeClient,
):
    """An order for a harmless company, agreed to as it is; then every company, alone."""
    email = f"{uuid.uuid4().hex}@example.com"
    invitation = {
        "email": email,
        "name": "Harmless",
        "roles": ["operator"],
        "companies": [company(backoffice_client, "other")],
    }
    invited = await backoffice_client.ask("POST", f"{OFFICE}/users", invitation, by="admin")
    assert (await decided(backoffice_client, invited, "approver")).status == 200
    users = backoffice_client.world.gateway.services.identity.services.users
    harmless = Colleague(backoffice_client, (await users.find(email)).id)

    alone = await harmless.show([])
    own = await decided(backoffice_client, alone, "admin")

    assert (alone.status, own.verdict) == (202, (403, "FORBIDDEN"))
    assert not await harmless.reaches(COMPANIES)


@pytest.mark.parametrize("act", ACTS)
async def test_two_people_let_who_may_write_reach_further(
    backoffice_client: BackofficeClient, act: str
):
    who = await colleague(backoffice_client, act, Role.OPERATOR, Role.VIEWER)
    said = await who.ask(act)
    before = await who.reaches(act)
    path = f"{OFFICE}/approvals/{said.document['id']}"
    read = await backoffice_client.ask("GET", path, by="approver")

    done = await decided(backoffice_client, said, "approver")

    order, sees = read.document["order"], [company(backoffice_client, "other")]
    companies = {"companies": [], "companies_before": sees}
    assert (said.document["kind"], said.document["subject"]) == (act, who.user_id)
    assert order == {
        "user_id": who.user_id,
        "email": order["email"],
        "roles": ["operator", "viewer"],
        **({"companies": sees} if act == ENABLING else companies),
    }
    assert (before, done.status, done.document["status"]) == (False, 200, "done")
    assert await who.reaches(act)


@pytest.mark.parametrize("act", ACTS)
async def test_who_only_reads_reaches_further_at_once(
    backoffice_client: BackofficeClient, act: str
):
    who = await colleague(backoffice_client, act, Role.VIEWER)

    said = await who.ask(act)

    assert (said.status, "ETag" in said.headers) == (200, True)
    assert await who.reaches(act)


async def test_what_is_taken_away_waits_for_nobody(backoffice_client: BackofficeClient):
    """Companies and the way in."""
    main, other = (company(backoffice_client, each) for each in ("main", "other"))
    users = backoffice_client.world.gateway.services.identity.services.users
    who = await colleague(backoffice_client, COMPANIES, Role.OPERATOR)
    await users.set_companies(CLI, who.user_id, CompaniesBody([]))

    fewer = [await who.show(companies) for companies in ([main, other], [other], [other])]
    out = await backoffice_client.ask("POST", f"{who.path}/disable", {"reason": "left"}, by="admin")

    assert [each.status for each in (*fewer, out)] == [200] * 4
    assert [each.document["companies"] for each in fewer][1:] == [[other]] * 2
    assert not await who.reaches(ENABLING)


@pytest.mark.parametrize("act", ACTS)
async def test_an_approver_of_other_companies_does_not_let_them_reach_further(
    backoffice_client: BackofficeClient, act: str
):
    """Whoever sees some companies decides on none that they do not see."""
    who = await colleague(backoffice_client, act, Role.OPERATOR)
    said = await who.ask(act)
    limited = await backoffice_client.limited("main", Role.APPROVER)

    done = await decided(backoffice_client, said, limited)

    assert done.verdict == (404, "NOT_FOUND")
    assert not await who.reaches(act)


@pytest.mark.parametrize("act", ACTS)
async def test_one_order_of_each_kind_waits_for_a_person(
    backoffice_client: BackofficeClient, act: str
):
    who = await colleague(backoffice_client, act, Role.OPERATOR)
    first = await who.ask(act)

    again = await who.ask(act)

    assert (first.status, again.verdict) == (202, (409, "SVC.GTW.009"))


async def test_a_role_is_not_given_for_companies_that_nobody_agreed_to(
    backoffice_client: BackofficeClient,
):
    """Whoever reads is widened by one person; the role that waits was shown for less."""
    who = await colleague(backoffice_client, COMPANIES, Role.VIEWER)
    given = await backoffice_client.ask(
        "PUT", f"{who.path}/roles", {"roles": ["viewer", "operator"]}, by="admin"
    )
    path = f"{OFFICE}/approvals/{given.document['id']}"
    read = await backoffice_client.ask("GET", path, by="approver")
    widened = await who.show([])

    done = await decided(backoffice_client, given, "approver")
    after = await backoffice_client.ask("GET", path, by="approver")

    assert read.document["order"]["companies"] == [company(backoffice_client, "other")]
    assert (widened.status, done.verdict) == (200, (400, "VALIDATION_FAILED"))
    assert after.document["approval"]["status"] == "void"
    assert after.document["approval"]["reason"] == "The person has been changed since."
    found = await backoffice_client.ask("GET", who.path, by="admin")
    assert found.document["roles"] == ["viewer"]
