"""One person alone lets nobody who may write reach further: not by companies, not by enabling."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import pytest

from gateway.core.rights import Role
from gateway.core.schemas import ReasonBody
from gateway.identity.model import InvitationBody
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
        body = {"companies": companies}
        return await self.backoffice_client.ask("PUT", f"{self.path}/companies", body, by=by)

    async def reaches(self, act: str) -> bool:
        found = (await self.backoffice_client.ask("GET", self.path, by="admin")).document
        return found["state"] != "disabled" if act == ENABLING else found["companies"] == []


def company(backoffice_client: BackofficeClient, name: str) -> str:
    return str(backoffice_client.world.demo["companies"][name]["id"])


async def colleague(backoffice_client: BackofficeClient, act: str, *roles: Role) -> Colleague:
    """Make somebody who sees one company; disabled where they are to be enabled."""
    users = backoffice_client.world.gateway.services.identity.users
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
    assert said.status == 202, said.body
    path = f"{OFFICE}/approvals/{said.document['id']}/approve"
    return await backoffice_client.ask("POST", path, by=by)


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
