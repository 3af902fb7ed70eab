"""A credential's rule of use: elsewhere every call is refused, and nothing is looked up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from gateway.core.access import Staff
from gateway.core.caller_rules import CallerRule
from provider_adapters.testing.demo.ensure import Pair
from tests.world.gateway.world import World, opened, order, pair_of, sandbox

HERE = CallerRule(networks=("127.0.0.0/8",))
ELSEWHERE = CallerRule(networks=("192.0.2.0/24",))
REFUSED = (403, "SVC.AUT.010")


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened(sandbox(tmp_path)) as made:
        yield made


async def issued(world: World) -> Pair:
    return pair_of(await world.issue())


async def decide(world: World, pair: Pair, rule: CallerRule) -> None:
    """Set where a credential may be used, in the process that serves."""
    credentials = world.gateway.services.credentials
    await credentials.set_callers(Staff(world.office.acting), pair["client_id"], rule)


async def test_every_call_from_a_refused_address_is_refused_before_the_reference(world: World):
    pair = await issued(world)
    first, second = (order(each, world.today()) for each in ("order-1", "order-2"))
    paid = await world.pay(first, pair=pair)

    await decide(world, pair, ELSEWHERE)
    refused = [
        await world.pay(first, pair=pair),
        await world.pay(second, pair=pair),
        await world.ask("GET", world.at("/withdraw/order-1"), pair=pair),
        await world.ask("GET", world.at("/withdraw/absent"), pair=pair),
        await world.ask("GET", world.at("/balance"), pair=pair),
    ]
    await decide(world, pair, HERE)
    again = await world.pay(first, pair=pair)
    absent = await world.ask("GET", world.at("/withdraw/order-2"), pair=pair)

    assert paid.status == 200
    assert {each.verdict for each in refused} == {REFUSED}
    assert (again.status, absent.status) == (200, 404)
    assert await world.executions("order-2") == []


async def test_the_address_of_a_refused_call_is_stored_with_the_credential(world: World):
    pair = await issued(world)
    await decide(world, pair, ELSEWHERE)
    await world.ask("GET", world.at("/balance"), pair=pair)

    await world.gateway.services.uses.write()

    (seen,) = await world.gateway.kernel.store.credentials.addresses(pair["client_id"])
    assert (seen.address, seen.refused_at is None) == ("127.0.0.1", False)
