"""What outlives a session takes the password and a code of the app, in the call itself."""

from __future__ import annotations

import pytest

from gateway.core.user_access import check_fresh_factor
from gateway.identity.reauthentication import Proof
from gateway.identity.second_factor_codes import SecondFactorCodes
from tests.world.identity import HOME, PASSWORD, refusal_of

NEW = "outra frase bem comprida"


def lasting(identity_world, act: str):
    """Return an act of one's own account that gives what outlives the session."""
    factors, passwords = identity_world.services.second_factors, identity_world.services.passwords
    if act == "change":
        return lambda who, password, code: passwords.change(who, password, NEW, code, HOME)
    return lambda who, password, code: getattr(factors, act)(who, Proof(password, code), HOME)


LASTING = ["change", "remove", "new_recovery_codes"]


@pytest.mark.parametrize("act", LASTING)
async def test_lasting_changes_require_password_and_a_new_code(identity_world, maria, act: str):
    """A stolen session has the same fresh factor: the call itself needs password and code."""
    codes = await identity_world.enrol()
    came, does = await identity_world.sign_in(), lasting(identity_world, act)
    check_fresh_factor(came.person, identity_world.clock.now())
    spent = identity_world.code()

    guessed = await refusal_of(does(came.person, "guess", spent))
    without = [
        await refusal_of(does(came.person, PASSWORD, each))
        for each in ("", spent, identity_world.wrong_code(), codes[0])
    ]

    assert guessed == ("password_wrong", "password")
    assert without == [("mfa_invalid", "code")] * 4
    caller = await identity_world.who(came)
    assert caller.has_factor
    assert await SecondFactorCodes(identity_world.context).left(maria.id) == 10
    identity_world.clock.passes(30)
    await does(caller, PASSWORD, identity_world.code())


@pytest.mark.parametrize("act", LASTING)
async def test_wrong_passwords_do_not_lock_the_second_factor(identity_world, maria, act: str):
    await identity_world.enrol()
    came, does = await identity_world.sign_in(), lasting(identity_world, act)
    identity_world.clock.passes(30)

    for _ in range(10):
        assert (await refusal_of(does(came.person, "guess", "000000")))[0] == "password_wrong"

    assert await identity_world.services.second_factors.step_up(
        came.person, identity_world.code(), HOME
    )


@pytest.mark.parametrize("act", ["remove", "new_recovery_codes"])
async def test_without_a_factor_codes_and_removal_are_refused(identity_world, maria, act: str):
    caller = (await identity_world.sign_in()).person

    refusal_ = await refusal_of(lasting(identity_world, act)(caller, PASSWORD, "123456"))

    assert refusal_ == ("step_up_required", "no_factor")
    assert await SecondFactorCodes(identity_world.context).left(maria.id) == 0
