"""Codes of a second factor."""

import pytest

from gateway.domain.errors import ServiceError
from gateway.operations.identity.codes import Codes, sealed_for
from gateway.security.sealing import SealBroken
from tests.unit.door import refusal


async def enrolled(door, maria):
    codes = await door.enrols()
    return await door.store.identity.users.find(maria.id), codes


async def test_the_secret_is_sealed_for_its_person_alone(door, maria):
    user, _ = await enrolled(door, maria)

    assert (
        door.sealer.open(user.totp.sealed_secret, sealed_for(user.id)) == door.secrets[user.email]
    )
    with pytest.raises(SealBroken):
        door.sealer.open(user.totp.sealed_secret, sealed_for("another"))


async def test_recovery_codes_are_kept_as_slow_digests(door, maria):
    user, codes = await enrolled(door, maria)

    rows = await door.store.identity.users.codes(user.id)

    assert [each.index for each in rows] == list(range(10))
    assert all(each.digest.startswith("$argon2id$") for each in rows)
    assert await door.hasher.matches(codes[7], rows[7].digest)


async def test_a_code_of_one_number_does_not_open_as_another(door, maria):
    user, codes = await enrolled(door, maria)

    assert not await Codes(door.parts).accept(user, "08" + codes[7][2:])


async def test_a_right_code_that_was_used_is_told_apart_from_a_wrong_one(door, maria):
    """Somebody looked over a shoulder, or stands between the person and us."""
    user, _ = await enrolled(door, maria)
    door.clock.passes(30)
    code = door.code()

    tried = [await Codes(door.parts).accept(user, each) for each in (code, code)]
    reused = door.noticed.count(("authn_factor_reuse", user.id))
    await Codes(door.parts).accept(user, door.wrong_code())

    assert tried == [True, False]
    assert reused == door.noticed.count(("authn_factor_reuse", user.id)) == 1


async def test_new_codes_void_the_old_ones(door, maria):
    user, codes = await enrolled(door, maria)

    new = await Codes(door.parts).renew(user)

    assert not await Codes(door.parts).accept(user, codes[0])
    assert await Codes(door.parts).accept(user, new[0])
    assert await Codes(door.parts).left(user.id) == 9


async def test_a_right_code_forgives_the_wrong_ones_before(door, maria):
    user, _ = await enrolled(door, maria)
    for _ in range(2):
        for _ in range(9):
            assert not await Codes(door.parts).accept(user, door.wrong_code())
        assert await Codes(door.parts).accept(user, door.code())
        door.clock.passes(30)


async def test_recovery_codes_count_among_the_wrong_ones(door, maria):
    user, _ = await enrolled(door, maria)
    for _ in range(10):
        assert not await Codes(door.parts).accept(user, "00-00000-00000")

    with pytest.raises(ServiceError) as refused:
        await Codes(door.parts).accept(user, door.code())

    assert refusal(refused.value) == ("too_many_attempts", "factor")


async def test_without_an_app_no_code_is_right(door, maria):
    assert not await Codes(door.parts).accept(maria, "123456")
    assert not await Codes(door.parts).app_code(maria, "123456")
