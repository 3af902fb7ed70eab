"""The keys that sign access tokens."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text

from gateway.domain.kernel.errors import ServiceError
from gateway.operations.kernel.audit_context import RuleViolation

DAY = 86_400
OVER = 600 + 300


async def test_the_first_key_is_made_once(door):
    """By the fixture; a second start makes none."""
    await door.services.signing_keys.ensure()

    assert len(await door.services.signing_keys.list()) == 1


async def test_of_many_that_start_together_one_key_stays(door):
    """Workers of one machine; more than three could not all be published."""
    only = (await door.services.signing_keys.list())[0]
    async with door.store.database.writing() as connection:
        await connection.execute(text("DELETE FROM signing_keys"))

    await asyncio.gather(*(door.services.signing_keys.ensure() for _ in range(8)))

    published = [
        each for each in await door.services.signing_keys.list() if each.retired_at is None
    ]
    assert len(published) == 1
    assert published[0].id != only.id


async def test_the_next_key_signs_a_day_after_it_was_published(door, maria):
    old = (await door.services.signing_keys.list())[0]

    new = await door.services.signing_keys.rotate("cli")

    assert new.signs_from == door.clock.now() + timedelta(days=1)
    door.clock.passes(61)
    assert (await door.keyring.signing()).id == old.id
    assert await door.keyring.public(new.id) is not None
    door.clock.passes(DAY)
    assert (await door.keyring.signing()).id == new.id


async def test_tokens_of_the_old_key_hold_until_it_is_retired(door, maria):
    old = (await door.services.signing_keys.list())[0]
    came = await door.comes_in()
    await door.services.signing_keys.rotate("cli", at_once=True)
    door.clock.passes(61)

    assert await door.who(came)
    with pytest.raises(RuleViolation, match="may live"):
        await door.services.signing_keys.retire("cli", old.id)
    await door.services.signing_keys.retire("cli", old.id, at_once=True)
    door.clock.passes(61)

    with pytest.raises(ServiceError) as refused:
        await door.who(came)
    assert refused.value.reason == "kid"


async def test_when_its_last_token_is_over_it_is_retired(door):
    old = (await door.services.signing_keys.list())[0]
    door.clock.passes(1)
    await door.services.signing_keys.rotate("cli", at_once=True)
    door.clock.passes(OVER)

    await door.services.signing_keys.retire("cli", old.id)

    assert [each.retired_at is None for each in await door.services.signing_keys.list()] == [
        False,
        True,
    ]


async def test_rotating_retires_what_is_over(door):
    for _ in range(5):
        await door.services.signing_keys.rotate("cli", at_once=True)
        door.clock.passes(OVER)

    assert (
        len([each for each in await door.services.signing_keys.list() if each.retired_at is None])
        == 2
    )


async def test_three_keys_are_published_at_most(door):
    await door.services.signing_keys.rotate("cli")
    await door.services.signing_keys.rotate("cli")

    with pytest.raises(RuleViolation, match="3 keys"):
        await door.services.signing_keys.rotate("cli")


@pytest.mark.parametrize("at_once", [False, True])
async def test_the_only_key_that_signs_is_not_retired(door, at_once: bool):
    only = (await door.services.signing_keys.list())[0]
    await door.services.signing_keys.rotate("cli")

    with pytest.raises(RuleViolation, match="only key"):
        await door.services.signing_keys.retire("cli", only.id, at_once=at_once)


async def test_the_next_key_can_be_given_up(door):
    new = await door.services.signing_keys.rotate("cli")

    await door.services.signing_keys.retire("cli", new.id)

    with pytest.raises(RuleViolation, match="no published key"):
        await door.services.signing_keys.retire("cli", new.id)
