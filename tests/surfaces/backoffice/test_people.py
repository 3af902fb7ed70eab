"""People managed by people: invited, given roles, kept out, signed out; what is shown to whom."""

from __future__ import annotations

import uuid

import pytest

from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from tests.surfaces.backoffice.people import OFFICE, address, invited
from tests.world.backoffice.client import BackofficeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def user_id(backoffice_client: BackofficeClient, email: str) -> str:
    return (await backoffice_client.world.gateway.services.identity.users.find(email)).id


async def test_somebody_is_invited_and_comes_in(backoffice_client: BackofficeClient):
    """The link of the mail sets the password; the answer never shows it."""
    made = await invited(backoffice_client)
    mails = await backoffice_client.world.gateway.services.identity.context.stores.outbox.latest(
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


async def test_an_address_that_is_taken_is_a_conflict(backoffice_client: BackofficeClient):
    made = await invited(backoffice_client)
    order = {"email": made["email"].upper(), "name": "Again", "roles": ["viewer"]}

    said = await backoffice_client.ask("POST", f"{OFFICE}/users", order, by="security")

    assert said.verdict == (409, "SVC.GTW.009")
    assert (said.document["field"], said.document["reason"]) == ("email", "taken")


async def test_who_is_limited_is_not_told_who_is_known_elsewhere(
    backoffice_client: BackofficeClient,
):
    """Of their own people they are."""
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


async def test_who_is_limited_to_a_company_sees_nothing_beyond(backoffice_client: BackofficeClient):
    """Companies, credentials, people, stops: what is of others is as if it were not there."""
    who = await backoffice_client.limited("other", Role.ADMIN, Role.SECURITY)
    main = backoffice_client.world.demo["companies"]["main"]["id"]
    foreign = backoffice_client.world.pair("full")["client_id"]
    admin = await user_id(
        backoffice_client, backoffice_client.world.demo["users"]["admin"]["email"]
    )
    account = backoffice_client.world.demo["accounts"]["main"]["id"]
    absent = str(uuid.uuid4())

    listed = [
        await backoffice_client.ask("GET", f"{OFFICE}/{each}", by=who)
        for each in ("companies", "credentials", "users")
    ]
    pairs = [
        ("GET", "companies/{}", None, main, absent),
        ("GET", "credentials/{}", None, foreign, "cli_absent"),
        ("POST", "credentials/{}/rotate", {}, foreign, "cli_absent"),
        ("POST", "credentials/{}/revoke", {}, foreign, "cli_absent"),
        ("GET", "users/{}", None, admin, absent),
        ("POST", "users/{}/disable", {}, admin, absent),
        ("PUT", "users/{}/roles", {"roles": ["viewer"]}, admin, absent),
        ("GET", "users/{}/sessions", None, admin, absent),
        ("PATCH", "accounts/{}", {"active": False}, account, absent),
        ("PUT", "accounts/{}/provider", {"provider": ""}, account, absent),
    ]

    other = backoffice_client.world.demo["companies"]["other"]["id"]
    assert [each["id"] for each in listed[0].document["data"]] == [other]
    assert {each["company_id"] for each in listed[1].document["data"]} == {other}
    assert all(each["companies"] == [other] for each in listed[2].document["data"])
    for method, path, body, hidden, missing in pairs:
        one = await backoffice_client.ask(method, f"{OFFICE}/{path.format(hidden)}", body, by=who)
        two = await backoffice_client.ask(method, f"{OFFICE}/{path.format(missing)}", body, by=who)
        assert one.status == 404, (method, path)
        assert one.verdict == two.verdict
        assert one.document["message"] == two.document["message"]


async def test_who_is_limited_to_a_company_gives_nothing_beyond(
    backoffice_client: BackofficeClient,
):
    who = await backoffice_client.limited("other", Role.ADMIN, Role.SECURITY)
    main = backoffice_client.world.demo["companies"]["main"]["id"]
    account = backoffice_client.world.demo["accounts"]["main"]["id"]
    until = {"reason": "x", "minutes": 1}
    orders = [
        ("users", {"email": address(), "name": "n", "roles": ["admin"]}),
        ("users", {"email": address(), "name": "n", "roles": ["admin"], "companies": [main]}),
        ("credentials", {"name": "n", "company_id": main}),
        ("credentials", {"name": "n", "account_id": account}),
        ("accounts", {"company_id": main, "name": "n", "tax_number": "11.222.333/0001-81"}),
        ("stops", {"scope": "provider", "subject": "sandbox", **until}),
        ("stops", {"scope": "company", "subject": main, **until}),
        ("stops", {"scope": "account", "subject": account, **until}),
    ]

    for path, order in orders:
        said = await backoffice_client.ask("POST", f"{OFFICE}/{path}", order, by=who)
        assert said.verdict == (400, "VALIDATION_FAILED"), (path, said.body)
    new = await backoffice_client.ask("POST", f"{OFFICE}/companies", {"name": "n"}, by=who)
    assert new.verdict == (403, "FORBIDDEN")


@pytest.mark.parametrize(
    "name", ["a\u202egnp.exe", "a\u2028b", "\u2066a", "a\u061c", "a\x85b", "\u200f", " "]
)
async def test_a_name_is_read_as_it_stands(backoffice_client: BackofficeClient, name: str):
    """Nothing unseen turns what follows around, or begins a line."""
    order = {"email": address(), "name": name, "roles": ["viewer"]}

    said = await backoffice_client.ask("POST", f"{OFFICE}/users", order, by="admin")

    assert said.verdict == (400, "VALIDATION_FAILED")
    assert said.document["field"] == "name"


@pytest.mark.parametrize("name", ["Ana Luísa d'Ávila", "李小龍", "محمد", "A\u200d", "N. 1 (a)"])
async def test_a_name_is_of_any_script(backoffice_client: BackofficeClient, name: str):
    made = await invited(backoffice_client, name=name)

    assert made["name"] == name


@pytest.mark.parametrize("what", ["companies", "credentials", "users", "stops", "reviews"])
async def test_lists_have_pages(backoffice_client: BackofficeClient, what: str):
    """Cut and counted by the store; a page of another form is refused by its name."""
    path = f"{OFFICE}/{what}"

    whole = (await backoffice_client.ask("GET", f"{path}?limit=100", by="security")).document
    first = (await backoffice_client.ask("GET", f"{path}?limit=1", by="security")).document
    second = (await backoffice_client.ask("GET", f"{path}?limit=1&page=2", by="security")).document
    wrong = await backoffice_client.ask("GET", f"{path}?page=0", by="security")

    assert whole["meta"]["total"] == len(whole["data"])
    assert first["data"] + second["data"] == whole["data"][:2]
    assert first["meta"] == {"page": 1, "limit": 1, "total": whole["meta"]["total"]}
    assert (wrong.document["field"], wrong.document["reason"]) == ("page", "positive_integer")
