"""The keys that sign access tokens."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text

from gateway.core.audit_context import RuleViolation
from gateway.core.errors import ServiceError

DAY = 86_400
OVER = 600 + 300


async def test_the_first_key_is_made_once(identity_world):
    """By the fixture; a second start makes none."""
    await identity_world.services.signing_keys.ensure()

    assert len(await identity_world.services.signing_keys.list()) == 1


async def test_of_many_that_start_together_one_key_stays(identity_world):
    """Server processes of one machine; more than three could not all be published."""
    only = (await identity_world.services.signing_keys.list())[0]
    async with identity_world.store.database.writing() as connection:
        await connection.execute(text("DELETE FROM signing_keys"))

    await asyncio.gather(*(identity_world.services.signing_keys.ensure() for _ in range(8)))

    published = [
        each
        for each in await identity_world.services.signing_keys.list()
        if each.retired_at is None
    ]
    assert len(published) == 1
    assert published[0].id != only.id


async def test_the_next_key_signs_a_day_after_it_was_published(identity_world, maria):
    old = (await identity_world.services.signing_keys.list())[0]

    new = await identity_world.services.signing_keys.rotate("cli")

    assert new.signs_from == identity_world.clock.now() + timedelta(days=1)
    identity_world.clock.passes(61)
    assert (await identity_world.keyring.signing()).id == old.id
    assert await identity_world.keyring.public(new.id) is not None
    identity_world.clock.passes(DAY)
    assert (await identity_world.keyring.signing()).id == new.id


async def test_tokens_of_the_old_key_hold_until_it_is_retired(identity_world, maria):
    old = (await identity_world.services.signing_keys.list())[0]
    came = await identity_world.sign_in()
    await identity_world.services.signing_keys.rotate("cli", at_once=True)
    identity_world.clock.passes(61)

    assert await identity_world.who(came)
    with pytest.raises(RuleViolation, match="may live"):
        await identity_world.services.signing_keys.retire("cli", old.id)
    await identity_world.services.signing_keys.retire("cli", old.id, at_once=True)
    identity_world.clock.passes(61)

    with pytest.raises(ServiceError) as refused:
        await identity_world.who(came)
    assert refused.value.reason == "kid"


async def test_a_key_is_kept_while_one_of_its_tokens_is_valid(identity_world):
    """A token lives ten minutes, and five more are for clocks and caches that differ."""
    old = (await identity_world.services.signing_keys.list())[0]
    identity_world.clock.passes(1)
    await identity_world.services.signing_keys.rotate("cli", at_once=True)
    identity_world.clock.passes(OVER - 1)

    with pytest.raises(RuleViolation, match="may live"):
        await identity_world.services.signing_keys.retire("cli", old.id)


async def test_when_its_last_token_is_over_it_is_retired(identity_world):
    old = (await identity_world.services.signing_keys.list())[0]
    identity_world.clock.passes(1)
    await identity_world.services.signing_keys.rotate("cli", at_once=True)
    identity_world.clock.passes(OVER)

    await identity_world.services.signing_keys.retire("cli", old.id)

    assert [
        each.retired_at is None for each in await identity_world.services.signing_keys.list()
    ] == [
        False,
        True,
    ]


async def test_rotating_retires_what_is_over(identity_world):
    for _ in range(5):
        await identity_world.services.signing_keys.rotate("cli", at_once=True)
        identity_world.clock.passes(OVER)

    assert (
        len(
            [
                each
                for each in await identity_world.services.signing_keys.list()
                if each.retired_at is None
            ]
        )
        == 2
    )


async def test_three_keys_are_published_at_most(identity_world):
    await identity_world.services.signing_keys.rotate("cli")
    await identity_world.services.signing_keys.rotate("cli")

    with pytest.raises(RuleViolation, match="3 keys"):
        await identity_world.services.signing_keys.rotate("cli")


@pytest.mark.parametrize("at_once", [False, True])
async def test_the_only_key_that_signs_is_not_retired(identity_world, at_once: bool):
    only = (await identity_world.services.signing_keys.list())[0]
    await identity_world.services.signing_keys.rotate("cli")

    with pytest.raises(RuleViolation, match="only key"):
        await identity_world.services.signing_keys.retire("cli", only.id, at_once=at_once)


async def test_the_next_key_can_be_given_up(identity_world):
    new = await identity_world.services.signing_keys.rotate("cli")

    await identity_world.services.signing_keys.retire("cli", new.id)

    with pytest.raises(RuleViolation, match="no published key"):
        await identity_world.services.signing_keys.retire("cli", new.id)
