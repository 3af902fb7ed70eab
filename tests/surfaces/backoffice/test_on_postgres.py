"""The back office over PostgreSQL: what races, and what databases read differently."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.config.settings import Database
from gateway.core.rights import Role
from tests.surfaces.backoffice.approvals import ordered
from tests.surfaces.backoffice.management import issued, pair
from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.callbacks import listed, summary
from tests.world.gateway.world import opened, sandbox

OFFICE = "/backoffice/v1"


@pytest.fixture
async def backoffice_client(
    tmp_path: Path, migrated_postgres_url: str
) -> AsyncIterator[BackofficeClient]:
    database = Database(url=migrated_postgres_url, migrate="always")  # type: ignore[arg-type]
    async with opened(sandbox(tmp_path, database=database)) as world:
        yield BackofficeClient(world)


async def test_concurrent_acts_on_postgres_have_one_winner(backoffice_client: BackofficeClient):
    """Ten approvers pay once, ten equal callbacks are one; every list answers."""
    approval, reference = await ordered(backoffice_client)
    people = [await backoffice_client.limited("main", Role.APPROVER) for _ in range(10)]
    path = f"{OFFICE}/approvals/{approval}/approve"

    approved = await asyncio.gather(
        *(backoffice_client.ask("POST", path, by=who) for who in people)
    )
    told = await asyncio.gather(
        *(summary(backoffice_client, {"tipo": "x"}, event="evt_one") for _ in range(10))
    )
    made = await issued(backoffice_client)
    used = await backoffice_client.world.ask(
        "GET", backoffice_client.world.at("/balance"), pair=pair(made)
    )

    assert any(each.status == 200 for each in approved)
    assert {each.status for each in approved} <= {200, 400}
    assert (await backoffice_client.world.settled(reference))["status"] == "paid"
    assert await backoffice_client.world.executions(reference) == [1050]
    assert {each.status for each in told} == {200}
    assert sum(each["event"] == "evt_one" for each in await listed(backoffice_client)) == 1
    assert used.status == 200
    for name in ("audit?action=*", "audit/proof", "requests?limit=5", "users", "mailbox"):
        said = await backoffice_client.ask("GET", f"{OFFICE}/{name}", by="admin")
        assert said.status == 200, (name, said.body)
