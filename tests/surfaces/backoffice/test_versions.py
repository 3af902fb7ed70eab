"""Two people change one record: with a version, the second is refused and learns why."""

from __future__ import annotations

import asyncio

import pytest

from tests.surfaces.backoffice.people import invited
from tests.world.backoffice.client import BackofficeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "/backoffice/v1"
CHANGED = (412, "SVC.GTW.011")


async def paths(backoffice_client: BackofficeClient) -> dict[str, str]:
    demo = backoffice_client.world.demo
    made = await invited(backoffice_client)
    return {
        "account": backoffice_client.at(),
        "company": f"{OFFICE}/companies/{demo['companies']['main']['id']}",
        "credential": f"{OFFICE}/credentials/{demo['credentials']['full']['client_id']}",
        "user": f"{OFFICE}/users/{made['id']}",
    }


@pytest.mark.parametrize("kind", ["account", "company", "credential", "user"])
async def test_a_read_returns_its_version(backoffice_client: BackofficeClient, kind: str):
    path = (await paths(backoffice_client))[kind]

    first, again = [await backoffice_client.ask("GET", path, by="admin") for _ in range(2)]

    assert first.headers["ETag"] == again.headers["ETag"]
    assert first.headers["ETag"].strip('"').isalnum()


async def test_only_one_of_two_changes_to_one_version_succeeds(backoffice_client: BackofficeClient):
    """Also concurrently: the store compares the versions."""
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
