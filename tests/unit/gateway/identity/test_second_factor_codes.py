"""Codes of a second factor: each once, few to be tried."""

from __future__ import annotations

import pytest

from gateway.identity.second_factor_codes import SecondFactorCodes, totp_row
from gateway.security.sealing import SealBroken
from tests.world.identity import refusal_of


async def enrolled(identity_world, maria):
    codes = await identity_world.enrol()
    return await identity_world.store.identity.users.find(maria.id), codes


async def test_a_totp_secret_is_sealed_for_its_user_only(identity_world, maria):
    user, _ = await enrolled(identity_world, maria)

    assert (
        identity_world.sealer.open(user.totp.sealed_secret, totp_row(user.id))
        == identity_world.secrets[user.email]
    )
    with pytest.raises(SealBroken):
        identity_world.sealer.open(user.totp.sealed_secret, totp_row("another"))


async def test_recovery_codes_are_stored_as_argon2_digests(identity_world, maria):
    user, codes = await enrolled(identity_world, maria)

    rows = await identity_world.store.identity.users.codes(user.id)

    assert [each.index for each in rows] == list(range(10))
    assert all(each.digest.startswith("$argon2id$") for each in rows)
    assert await identity_world.hasher.matches(codes[7], rows[7].digest)


async def test_a_recovery_code_is_refused_under_another_number(identity_world, maria):
    user, codes = await enrolled(identity_world, maria)

    assert not await SecondFactorCodes(identity_world.context).accept(user, "08" + codes[7][2:])


async def test_a_reused_code_is_reported_and_a_wrong_one_is_not(identity_world, maria):
    """The code was observed or intercepted."""
    user, _ = await enrolled(identity_world, maria)
    identity_world.clock.passes(30)
    code = identity_world.code()

    tried = [
        await SecondFactorCodes(identity_world.context).accept(user, each) for each in (code, code)
    ]
    reused = identity_world.security_events.count(("authn_factor_reuse", user.id))
    await SecondFactorCodes(identity_world.context).accept(user, identity_world.wrong_code())

    assert tried == [True, False]
    assert reused == identity_world.security_events.count(("authn_factor_reuse", user.id)) == 1


async def test_a_right_code_resets_the_count_of_wrong_ones(identity_world, maria):
    user, _ = await enrolled(identity_world, maria)
    for _ in range(2):
        for _ in range(9):
            assert not await SecondFactorCodes(identity_world.context).accept(
                user, identity_world.wrong_code()
            )
        assert await SecondFactorCodes(identity_world.context).accept(user, identity_world.code())
        identity_world.clock.passes(30)


async def test_wrong_recovery_codes_count_towards_the_factor_limit(identity_world, maria):
    user, _ = await enrolled(identity_world, maria)
    for _ in range(10):
        assert not await SecondFactorCodes(identity_world.context).accept(user, "00-00000-00000")

    assert await refusal_of(
        SecondFactorCodes(identity_world.context).accept(user, identity_world.code())
    ) == ("too_many_attempts", "factor")


async def test_without_an_app_every_code_is_refused(identity_world, maria):
    assert not await SecondFactorCodes(identity_world.context).accept(maria, "123456")
    assert not await SecondFactorCodes(identity_world.context).app_code(maria, "123456")
