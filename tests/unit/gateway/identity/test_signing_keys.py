"""The keys that sign access tokens."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text

from gateway.core.audit_context import RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.storage import StoreUnavailable
from gateway.identity.signing_keys import Keyring, jwks
from gateway.security.sealing import SealBroken
from tests.world.signing_keys import SEALER, Register, key
from tests.world.standing import NOON, Clock


def ring(register: Register, clock: Clock) -> Keyring:
    return Keyring(register.list, SEALER, clock.now, clock.monotonic)


def test_a_private_key_is_sealed_for_its_row():
    made = key()

    other = replace(made, id="another")
    private = SEALER.open(made.sealed_private, f"signing_key:{made.id}")
    assert private
    with pytest.raises(SealBroken):
        SEALER.open(other.sealed_private, f"signing_key:{other.id}")
    assert private not in repr(made)


async def test_a_signature_is_verified_by_the_public_key(clock):
    made = key()
    keyring = ring(Register(made), clock)

    signature = (await keyring.signing()).private.sign(b"text")

    public = await keyring.public(made.id)
    assert public is not None
    public.verify(signature, b"text")


async def test_the_newest_active_key_signs(clock):
    old, current, following = key(-2), key(-1), key(1)

    assert (await ring(Register(old, current, following), clock).signing()).id == current.id


async def test_the_oldest_key_signs_when_none_is_active_yet(clock):
    """The clock of the node that made it is ahead of ours."""
    first, second = key(0.001), key(24)

    assert (await ring(Register(first, second), clock).signing()).id == first.id


async def test_without_a_signing_key_nothing_is_signed(clock):
    with pytest.raises(StoreUnavailable):
        await ring(Register(), clock).signing()


async def test_at_most_three_unretired_keys_are_in_use(clock):
    keys = [key(-hours) for hours in (5, 4, 3, 2)]
    retired = replace(key(-1), retired_at=NOON)
    keyring = ring(Register(*keys, retired), clock)

    known = [await keyring.public(each.id) is not None for each in (*keys, retired)]

    assert known == [False, True, True, True, False]


async def test_cached_keys_are_valid_for_four_seconds(clock):
    """Even without a reported change; less than the five seconds promised."""
    made = key()
    register = Register(made)
    keyring = ring(register, clock)
    for _ in range(4):
        assert await keyring.public(made.id) is not None
        clock.passes(1)

    assert register.asked == 1
    await keyring.public(made.id)
    assert register.asked == 2


async def test_a_retired_key_is_refused_once_the_change_arrives(clock):
    """Also while the store is unavailable: a key known to be retired is not tolerated."""
    made = key()
    register = Register(made)
    keyring = ring(register, clock)
    await keyring.published()
    register.keys[:] = [replace(made, retired_at=NOON)]

    forgotten = [keyring.forget(), keyring.forget()]
    known = await keyring.public(made.id)
    keyring.forget()
    register.silent = True

    assert (forgotten, known) == ([True, False], None)
    with pytest.raises(StoreUnavailable):
        await keyring.public(made.id)


async def test_keys_read_before_the_change_are_not_cached(clock):
    register, changes = Register(key()), [True]

    async def listed():
        found = await register.list()
        if changes:
            changes.clear()
            keyring.forget()
        return found

    keyring = Keyring(listed, SEALER, clock.now, clock.monotonic)
    await keyring.published()
    await keyring.published()

    assert register.asked == 2


async def test_an_unknown_key_id_is_read_at_most_once_a_second(clock):
    """Otherwise invented ids would cause queries."""
    register = Register(key())
    keyring = ring(register, clock)
    await keyring.published()
    for _ in range(100):
        assert await keyring.public("made-up") is None
    assert register.asked == 1

    made = key(24)
    register.keys.append(made)
    clock.passes(1)

    assert await keyring.public(made.id) is not None
    assert register.asked == 2


async def test_cached_keys_are_used_for_ten_minutes_without_the_store(clock):
    made = key()
    register = Register(made)
    keyring = ring(register, clock)
    await keyring.published()
    register.silent = True

    clock.passes(600)
    assert await keyring.public(made.id) is not None
    clock.passes(1)
    with pytest.raises(StoreUnavailable):
        await keyring.public(made.id)


async def test_published_keys_have_public_halves_alone(clock):
    """The next key is included, a day before it signs."""
    now, following = key(), key(24)

    published = await ring(Register(now, following), clock).published()

    assert [each["kid"] for each in published["keys"]] == [now.id, following.id]
    assert all("d" not in each for each in published["keys"])


def test_a_key_is_published_in_the_form_of_rfc_8037():
    """Appendix A.1 and A.2."""
    private = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()

    written = jwks([replace(key(), id="k1", public=public)])

    assert written == {
        "keys": [
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
                "kid": "k1",
                "use": "sig",
                "alg": "EdDSA",
            }
        ]
    }


DAY = 86_400
OVER = 600 + 300


async def test_a_second_start_creates_no_key(identity_world):
    """The fixture is the first start."""
    await identity_world.services.signing_keys.ensure()

    assert len(await identity_world.services.signing_keys.list()) == 1


async def test_of_concurrent_first_starts_one_key_is_kept(identity_world):
    """Several server processes of one machine; more than three keys could not be published."""
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


async def test_the_next_key_signs_one_day_after_publication(identity_world, maria):
    old = (await identity_world.services.signing_keys.list())[0]

    new = await identity_world.services.signing_keys.rotate("cli")

    assert new.signs_from == identity_world.clock.now() + timedelta(days=1)
    identity_world.clock.passes(61)
    assert (await identity_world.keyring.signing()).id == old.id
    assert await identity_world.keyring.public(new.id) is not None
    identity_world.clock.passes(DAY)
    assert (await identity_world.keyring.signing()).id == new.id


async def test_tokens_of_the_old_key_are_valid_until_it_is_retired(identity_world, maria):
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


async def test_a_retired_key_is_kept_while_one_of_its_tokens_is_valid(identity_world):
    """A token lives ten minutes, and five more cover differing clocks and caches."""
    old = (await identity_world.services.signing_keys.list())[0]
    identity_world.clock.passes(1)
    await identity_world.services.signing_keys.rotate("cli", at_once=True)
    identity_world.clock.passes(OVER - 1)

    with pytest.raises(RuleViolation, match="may live"):
        await identity_world.services.signing_keys.retire("cli", old.id)


async def test_a_key_can_be_retired_after_its_last_token_expired(identity_world):
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


async def test_rotating_retires_expired_keys(identity_world):
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


async def test_at_most_three_keys_are_published(identity_world):
    await identity_world.services.signing_keys.rotate("cli")
    await identity_world.services.signing_keys.rotate("cli")

    with pytest.raises(RuleViolation, match="3 keys"):
        await identity_world.services.signing_keys.rotate("cli")


@pytest.mark.parametrize("at_once", [False, True])
async def test_the_only_signing_key_cannot_be_retired(identity_world, at_once: bool):
    only = (await identity_world.services.signing_keys.list())[0]
    await identity_world.services.signing_keys.rotate("cli")

    with pytest.raises(RuleViolation, match="only key"):
        await identity_world.services.signing_keys.retire("cli", only.id, at_once=at_once)


async def test_the_next_key_can_be_withdrawn(identity_world):
    new = await identity_world.services.signing_keys.rotate("cli")

    await identity_world.services.signing_keys.retire("cli", new.id)

    with pytest.raises(RuleViolation, match="no published key"):
        await identity_world.services.signing_keys.retire("cli", new.id)
