"""A gateway that cannot hear of changes believes nothing it keeps, and goes on serving."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.config.settings import Database, Settings
from gateway.config.values import Address
from gateway.domain.payouts.stops import StopScope
from gateway.operations.backoffice.stops import StopOrder
from gateway.operations.demo.document import Pair
from gateway.telemetry.metrics import series
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, another_process, opened, order, sandbox

BELIEVED_S = 5.0
SLACK_S = 2.5
"""For a busy machine; who hears of no change takes four seconds, and another one to notice it."""
SOON_S = 1.0 + SLACK_S


@pytest.fixture(params=["sqlite", "postgres"])
def settings(tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    """Of a gateway on either store."""
    if request.param == "sqlite":
        return sandbox(tmp_path)
    url = Address(request.getfixturevalue("migrated_postgres_url"))
    database = Database(url=url, auth_timeout_s=5, timeout_s=5, migrate="always")
    return sandbox(tmp_path, database=database)


@pytest.fixture
async def world(settings: Settings) -> AsyncIterator[World]:
    """A gateway that believes what it keeps."""
    async with opened(settings) as made:
        await believing(made)
        yield made


async def balance(world: World, pair: Pair | None = None) -> Answer:
    return await world.ask("GET", world.at("/balance"), pair=pair or world.pair("full"))


def figure(world: World, name: str) -> float:
    """Read one figure as it is shown."""
    shown = world.gateway.telemetry.values
    return shown.values(getattr(series, name)).get()


def misses(world: World) -> float:
    """How often a credential had to be read for who was let in."""
    return world.gateway.telemetry.values.values(series.CREDENTIAL_CACHE).get("miss")


async def until(world: World, pair: Pair, status: int) -> float:
    """Ask until the status is another one; return the seconds it took."""
    began = time.monotonic()
    async with asyncio.timeout(60):
        while (await balance(world, pair)).status != status:
            await asyncio.sleep(0.05)
    return time.monotonic() - began


async def refused(world: World) -> float:
    """Pay, each time anew, until payouts are stopped; return the seconds it took."""
    began = time.monotonic()
    async with asyncio.timeout(60):
        while (await world.pay(order(f"at-{time.monotonic()}", world.today()))).status != 403:
            await asyncio.sleep(0.05)
    return time.monotonic() - began


async def believing(world: World) -> None:
    """Wait until what is kept serves."""
    async with asyncio.timeout(60):
        while not figure(world, "RECORDS_BELIEVED"):
            await asyncio.sleep(0.05)


async def test_another_process_is_heard_of_within_a_second(world: World):
    """A revocation and a stop, on either store."""
    made = await world.issue()
    pair = Pair(client_id=made.credential.client_id, client_secret=made.client_secret)
    paid = await world.pay(order("before", world.today()), pair=pair)
    stopped = StopOrder(
        scope=StopScope.ACCOUNT,
        subject=world.demo["accounts"]["main"]["id"],
        reason="fraud",
        ends_at=world.gateway.kernel.now() + timedelta(hours=1),
    )

    async with another_process(world) as office:
        await office.admin.stops.stop(stopped)
        took = [await refused(world)]
        await office.admin.credentials.revoke(pair["client_id"])
        took.append(await until(world, pair, 401))

    assert paid.status == 200
    assert max(took) <= SOON_S


async def test_a_feed_that_is_killed_leaves_nothing_believed(world: World):
    """A change counts in time all the same; then every request reads the store, and is served."""
    made = await world.issue()
    pair = Pair(client_id=made.credential.client_id, client_secret=made.client_secret)
    feed, *_ = world.gateway.tasks

    await feed.stop()
    async with another_process(world) as office:
        await balance(world, pair)
        await office.admin.credentials.revoke(pair["client_id"])
        took = await until(world, pair, 401)
    while figure(world, "RECORDS_BELIEVED"):
        await asyncio.sleep(0.05)
    before = misses(world)
    served = [(await balance(world)).status for _ in range(3)]

    assert took <= BELIEVED_S + SLACK_S
    assert (served, misses(world) - before) == ([200, 200, 200], 3)
    assert figure(world, "CHANGE_FEED_AGE") >= 4


async def test_a_feed_that_lives_again_is_believed_again(world: World):
    feed, *_ = world.gateway.tasks
    await feed.stop()
    while figure(world, "RECORDS_BELIEVED"):
        await asyncio.sleep(0.05)

    feed.start()
    await believing(world)
    await balance(world)
    before = misses(world)
    await balance(world)

    assert misses(world) == before
