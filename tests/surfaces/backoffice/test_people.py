"""People managed by people: invited, given roles, kept out, signed out; what is shown to whom."""

from __future__ import annotations

import pytest

from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from tests.surfaces.backoffice.people import OFFICE, invited
from tests.world.backoffice.client import BackofficeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_invited_user_signs_in(backoffice_client: BackofficeClient):
    """The mail's link sets the password, which no answer contains."""
    made = await invited(backoffice_client)
    mails = await backoffice_client.world.gateway.services.identity.context.stores.mailbox.latest(
        5, EVERY_COMPANY
    )
    mail = next(each for each in mails if each.to == made["email"])
    token = mail.text.split("token=")[1].split()[0]

    link = {"token": token, "password": "outra frase bem comprida"}
    accepted = await leaves_by_post(backoffice_client, "/iam/v1/auth/invitations/accept", link)
    after = await backoffice_client.ask("GET", f"{OFFICE}/users/{made['id']}", by="security")
    again = await backoffice_client.ask(
        "POST", f"{OFFICE}/users/{made['id']}/invitation", by="admin"
    )

    assert made["state"] == "invited"
    assert accepted == 204
    assert after.document["state"] == "active"
    assert again.verdict == (400, "VALIDATION_FAILED")


async def leaves_by_post(backoffice_client: BackofficeClient, path: str, document: object) -> int:
    url = f"http://127.0.0.1:{backoffice_client.world.port}{path}"
    async with backoffice_client.world.session.post(url, json=document) as said:
        return said.status


async def test_an_email_address_in_use_is_a_conflict(backoffice_client: BackofficeClient):
    made = await invited(backoffice_client)
    order = {"email": made["email"].upper(), "name": "Again", "roles": ["viewer"]}

    said = await backoffice_client.ask("POST", f"{OFFICE}/users", order, by="security")

    assert said.verdict == (409, "SVC.GTW.009")
    assert (said.document["field"], said.document["reason"]) == ("email", "taken")


async def test_a_limited_user_does_not_see_users_of_other_companies(
    backoffice_client: BackofficeClient,
):
    """And sees those of their own company."""
    who = await backoffice_client.limited("other", Role.ADMIN)
    other = backoffice_client.world.demo["companies"]["other"]["id"]
    foreign, own = (
        await invited(backoffice_client),
        await invited(backoffice_client, companies=[other]),
    )
    order = {"name": "n", "roles": ["viewer"], "companies": [other]}

    said = [
        await backoffice_client.ask(
            "POST", f"{OFFICE}/users", {**order, "email": each["email"]}, by=who
        )
        for each in (foreign, own)
    ]

    assert [each.document["reason"] for each in said] == ["not_here", "taken"]
    assert said[0].verdict == (400, "VALIDATION_FAILED")
    assert foreign["email"] not in said[0].document["message"]
