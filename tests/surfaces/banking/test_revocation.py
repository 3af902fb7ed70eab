"""How soon a change of credentials reaches a running gateway, with its real times."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from gateway.operations.demo.document import Pair
from tests.surfaces.answers import Answer
from tests.surfaces.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOUND_S = 5.0
NEGATIVE_S = 2.0
SLACK_S = 0.3
EVERY_S = 0.05


async def balance(world: World, pair: Pair) -> Answer:
    return await world.ask("GET", world.at("/balance"), pair=pair)


async def until(world: World, pair: Pair, status: int) -> float:
    """Ask until the status is another one; return the seconds it took."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with asyncio.timeout(10):
        while (await balance(world, pair)).status != status:
            await asyncio.sleep(EVERY_S)
    return loop.time() - began


async def issued(world: World) -> Pair:
    made = await world.issue()
    return Pair(client_id=made.credential.client_id, client_secret=made.client_secret)


async def test_a_revocation_reaches_within_five_seconds(world: World):
    """Measured from the act, while the credential is in constant use."""
    pair = await issued(world)
    served = await balance(world, pair)

    await world.office.credentials.revoke(pair["client_id"])
    took = await until(world, pair, 401)

    assert served.status == 200
    assert took <= BOUND_S + SLACK_S


async def test_a_rotated_credential_has_two_secrets_until_the_old_one_ends(world: World):
    """Decided without downtime: both serve at once, and then the old one is refused."""
    old = await issued(world)

    made = await world.office.credentials.rotate(old["client_id"], timedelta(seconds=1))
    new = Pair(client_id=old["client_id"], client_secret=made.client_secret)
    both = await balance(world, old), await balance(world, new)
    await until(world, old, 401)
    after = await balance(world, new)

    assert [answer.status for answer in both] == [200, 200]
    assert after.status == 200


async def test_a_new_credential_is_known_within_two_seconds(world: World):
    """Even if somebody tried its id before: that nobody had it is believed for two seconds."""
    pair = await issued(world)
    early = Pair(client_id=pair["client_id"], client_secret=world.pair("full")["client_secret"])
    await world.gateway.store.credentials.find(early["client_id"])

    took = await until(world, pair, 200)

    assert took <= NEGATIVE_S + SLACK_S
