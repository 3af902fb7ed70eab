"""A gateway that cannot hear of changes believes nothing it keeps, and goes on serving."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gateway.config.settings import Settings
from gateway.core.company_scope import StopScope
from gateway.telemetry.metrics import series
from provider_adapters.testing.demo.ensure import Pair
from tests.world.credentials import revoke
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, another_process, opened, order, pair_of
from tests.world.metrics import shown
from tests.world.stops import stop_payouts
from tests.world.waiting import until


@pytest.fixture
async def world(settings_on_either_store: Settings) -> AsyncIterator[World]:
    async with opened(settings_on_either_store) as made:
        await believing(made)
        yield made


async def balance(world: World, pair: Pair | None = None) -> Answer:
    return await world.ask("GET", world.at("/balance"), pair=pair or world.pair("full"))


def figure(world: World, name: str) -> float:
    return shown(world.gateway.telemetry.values, getattr(series, name))


def misses(world: World) -> float:
    return shown(world.gateway.telemetry.values, series.CREDENTIAL_CACHE, "miss")


async def believing(world: World) -> None:
    """Wait until what is kept serves."""
    await until(lambda: figure(world, "RECORDS_BELIEVED"))


async def doubting(world: World) -> None:
    """Wait until what is kept does not serve: no change was heard of for four seconds."""
    await until(lambda: not figure(world, "RECORDS_BELIEVED"))


async def test_changes_of_another_process_arrive(world: World):
    """A revocation and a stop, on both databases."""
    made = await world.issue()
    pair = pair_of(made)
    paid = await world.pay(order("before", world.today()), pair=pair)

    async with another_process(world) as office:
        await stop_payouts(office, StopScope.ACCOUNT, world.demo["accounts"]["main"]["id"])
        await world.hear_changes()
        refused = await world.pay(order("stopped", world.today()))
        await revoke(office, pair["client_id"])
        await world.hear_changes()
        revoked = await balance(world, pair)

    assert (paid.status, refused.status, revoked.status) == (200, 403, 401)


async def test_a_dead_feed_invalidates_the_cache(world: World):
    """After four seconds every request reads the store, and is served."""
    made = await world.issue()
    pair = pair_of(made)
    feed, *_ = world.gateway.tasks

    await feed.stop()
    async with another_process(world) as office:
        await balance(world, pair)
        await revoke(office, pair["client_id"])
    await doubting(world)
    revoked = await balance(world, pair)
    before = misses(world)
    served = [(await balance(world)).status for _ in range(3)]

    assert revoked.status == 401
    assert (served, misses(world) - before) == ([200, 200, 200], 3)
    assert figure(world, "CHANGE_FEED_AGE") >= 4


async def test_a_recovered_feed_validates_the_cache_again(world: World):
    feed, *_ = world.gateway.tasks
    await feed.stop()
    await doubting(world)

    feed.start()
    await believing(world)
    await balance(world)
    before = misses(world)
    await balance(world)

    assert misses(world) == before
