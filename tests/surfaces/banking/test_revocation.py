"""Changes of credentials and accounts reach a running gateway."""

from __future__ import annotations

import pytest

from provider_adapters.testing.demo.ensure import Pair
from tests.world.accounts import change_account
from tests.world.credentials import revoke, rotate
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, another_process, other_secret, pair_of
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def balance(world: World, pair: Pair) -> Answer:
    return await world.ask("GET", world.at("/balance"), pair=pair)


async def issued(world: World) -> Pair:
    return pair_of(await world.issue())


async def test_a_revocation_takes_effect_at_once_in_its_process(world: World):
    pair = await issued(world)
    served = await balance(world, pair)

    await revoke(world.office, pair["client_id"])
    after = await balance(world, pair)

    assert (served.status, after.status) == (200, 401)


@pytest.mark.parametrize("tried_before", [False, True])
async def test_a_secret_rotated_by_another_process_works_at_once(
    world: World, *, tried_before: bool
):
    """Even right after a use of the credential, and after wrong secrets for it."""
    old = await issued(world)
    await balance(world, old)
    if tried_before:
        await balance(world, other_secret(old))

    async with another_process(world) as office:
        made = await rotate(office, old["client_id"], 60)
    new = Pair(client_id=old["client_id"], client_secret=made.client_secret)
    answers = [await balance(world, new), await balance(world, old)]

    assert [answer.status for answer in answers] == [200, 200]


async def test_a_rotated_credential_has_two_secrets_until_the_old_one_ends(world: World):
    """Rotated without downtime: both work, and then the old one is refused."""
    old = await issued(world)

    made = await rotate(world.office, old["client_id"], 60)
    new = Pair(client_id=old["client_id"], client_secret=made.client_secret)
    both = await balance(world, old), await balance(world, new)
    brief = await issued(world)
    made = await rotate(world.office, brief["client_id"], 1)
    new = Pair(client_id=brief["client_id"], client_secret=made.client_secret)

    async def is_over() -> bool:
        return (await balance(world, brief)).status == 401

    await until(is_over)
    after = await balance(world, new)

    assert [answer.status for answer in both] == [200, 200]
    assert after.status == 200


async def test_a_credential_issued_by_another_process_works_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """Even if its id was tried before it existed: cached absence is checked again."""
    coming = "cli_aaaaaaaaaaaaaaaaaaaa"
    early = Pair(client_id=coming, client_secret=world.pair("full")["client_secret"])
    before = await balance(world, early)

    async with another_process(world) as office:
        monkeypatch.setattr("gateway.app.services.new_client_id", lambda _random: coming)
        made = await world.issue(office=office)
    used = await balance(world, Pair(client_id=coming, client_secret=made.client_secret))

    assert (before.status, used.status) == (401, 200)


async def test_an_account_closed_by_another_process_is_closed_once_the_change_arrives(world: World):
    """And reopened as soon."""
    pair = world.pair("full")
    await balance(world, pair)
    account = world.demo["accounts"]["main"]["id"]

    async with another_process(world) as office:
        await change_account(office, account, active=False)
        await world.hear_changes()
        closed = await balance(world, pair)
        await change_account(office, account, active=True)
        await world.hear_changes()
        open_again = await balance(world, pair)

    assert (closed.status, open_again.status) == (400, 200)
