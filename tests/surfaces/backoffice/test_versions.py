"""Two people at one record: who has not seen the other's change is told, where they ask to be."""

from __future__ import annotations

import asyncio

import pytest

from tests.surfaces.backoffice.people import invited
from tests.world.backoffice.client import BackofficeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "/backoffice/v1"
CHANGED = (412, "SVC.GTW.011")


async def paths(backoffice_client: BackofficeClient) -> dict[str, str]:
    """Return what has a version."""
    demo = backoffice_client.world.demo
    made = await invited(backoffice_client)
    return {
        "account": backoffice_client.at(),
        "company": f"{OFFICE}/companies/{demo['companies']['main']['id']}",
        "credential": f"{OFFICE}/credentials/{demo['credentials']['full']['client_id']}",
        "user": f"{OFFICE}/users/{made['id']}",
    }


@pytest.mark.parametrize("kind", ["account", "company", "credential", "user"])
async def test_a_read_tells_its_version(backoffice_client: BackofficeClient, kind: str):
    path = (await paths(backoffice_client))[kind]

    first, again = [await backoffice_client.ask("GET", path, by="admin") for _ in range(2)]

    assert first.headers["ETag"] == again.headers["ETag"]
    assert first.headers["ETag"].strip('"').isalnum()


async def test_of_two_who_have_seen_the_same_one_changes_it(backoffice_client: BackofficeClient):
    """At once as well: the store compares, not we."""
    path = backoffice_client.at("", "sister")
    seen = (await backoffice_client.ask("GET", path, by="admin")).headers["ETag"]
    await backoffice_client.token("admin")

    said = await asyncio.gather(
        *(
            backoffice_client.ask(
                "PATCH", path, {"name": f"N {each}"}, by="admin", headers={"If-Match": seen}
            )
            for each in range(4)
        )
    )

    assert sorted(each.verdict for each in said) == [(200, ""), CHANGED, CHANGED, CHANGED]
    done = next(each for each in said if each.status == 200)
    after = await backoffice_client.ask("GET", path, by="admin")
    assert after.document["name"] == done.document["name"]
    assert after.headers["ETag"] == done.headers["ETag"] != seen


async def test_changes_of_several_fields_at_once_undo_nothing(backoffice_client: BackofficeClient):
    """Without a version the last one wins its own field, and no other."""
    path = backoffice_client.at("", "sister")
    wanted = {"name": "Both", "branch": "77", "account": "778"}
    await backoffice_client.token("admin")

    said = await asyncio.gather(
        *(
            backoffice_client.ask("PATCH", path, {name: value}, by="admin")
            for name, value in wanted.items()
        )
    )

    assert {each.status for each in said} == {200}
    last = await backoffice_client.ask("PATCH", path, {}, by="admin")
    assert {name: last.document[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("version", "status"),
    [("{seen}", 200), ('"x", {seen}', 200), ("*", 200), ('"x"', 412), ("W/{seen}", 412), ("", 412)],
)
async def test_a_change_is_made_of_a_version_that_was_seen(
    backoffice_client: BackofficeClient, version: str, status: int
):
    """A list of them, or any; another form is a version that nothing has."""
    path = (await paths(backoffice_client))["user"]
    seen = (await backoffice_client.ask("GET", path, by="admin")).headers["ETag"]
    headers = {"If-Match": version.format(seen=seen)}

    said = await backoffice_client.ask(
        "PUT", f"{path}/companies", {"companies": []}, by="admin", headers=headers
    )

    assert said.status == status
    if status == 412:
        assert said.verdict == CHANGED
        assert said.document["reason"] == "changed_meanwhile"
    else:
        assert said.headers["ETag"] != seen


async def test_a_person_who_was_changed_meanwhile_is_told_apart(
    backoffice_client: BackofficeClient,
):
    path = (await paths(backoffice_client))["user"]
    seen = (await backoffice_client.ask("GET", path, by="admin")).headers["ETag"]
    await backoffice_client.ask("POST", f"{path}/disable", {}, by="admin")

    said = await backoffice_client.ask(
        "POST", f"{path}/enable", by="admin", headers={"If-Match": seen}
    )

    assert said.verdict == CHANGED
    assert (await backoffice_client.ask("GET", path, by="admin")).document["state"] == "disabled"
