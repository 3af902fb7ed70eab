"""A person's day at the desk, on either database."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.config.hidden import Address
from gateway.config.settings import Database, Settings
from tests.surfaces.backoffice.desk import Desk
from tests.surfaces.backoffice.test_operations import generated, paid, today, withdrawing
from tests.surfaces.world import opened, order, sandbox


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """The sandbox's settings on each kind of store."""
    if request.param == "sqlite":
        return sandbox(tmp_path)
    url = Address(request.getfixturevalue("postgres_url"))
    database = Database(url=url, auth_timeout_s=5, timeout_s=5, migrate="always")
    return sandbox(tmp_path, database=database)


@pytest.fixture
async def desk(settings: Settings) -> AsyncIterator[Desk]:
    """The desk of a gateway of the test's own."""
    async with opened(settings) as world:
        yield Desk(world)


async def test_what_is_kept_is_kept_alike(desk: Desk):
    """Accounts, payouts, approvals and the audit log, all of them read and written."""
    world, reference = desk.world, uuid.uuid4().hex
    await world.pay(order(reference, world.today()))
    settled = await world.settled(reference)

    accounts = (await desk.ask("GET", "/backoffice/v1/accounts?limit=100")).document
    read = (await desk.read(f"/withdraw/{reference}")).document
    found = (await desk.post("/withdraws/search", {**today(desk), "status": "paid"})).document
    waiting = await desk.post("/withdraw/pix", withdrawing(desk, uuid.uuid4().hex))
    charge = await paid(desk)
    refund = await desk.post(
        f"/pix/transactions/{charge['reference']}/refunds", {"reference": "r", "value": 1}
    )
    gone = await desk.ask("DELETE", desk.at(f"/pix/qrcode/{(await generated(desk))['reference']}"))

    assert accounts["meta"]["total"] == len(world.demo["accounts"])
    assert read == settled
    assert settled in found["data"]
    assert (waiting.status, refund.status) == (202, 202)
    assert gone.document["status"] == "Canceled"
    assert await world.gateway.store.audit.verify() > 0
