"""Second factors."""

from datetime import timedelta

import pytest

from gateway.domain.kernel.errors import ServiceError
from gateway.operations.identity.second_factors import SecondFactorCodes, totp_row
from gateway.operations.identity.sign_in import SecondFactorRequired
from gateway.operations.identity.tokens import SignedIn
from gateway.security.sealing import SealBroken
from tests.unit.door import EMAIL, HOME, PASSWORD, refusal


async def enrolled(door, maria):
    codes = await door.enrols()
    return await door.store.identity.users.find(maria.id), codes


async def test_the_secret_is_sealed_for_its_person_alone(door, maria):
    user, _ = await enrolled(door, maria)

    assert door.sealer.open(user.totp.sealed_secret, totp_row(user.id)) == door.secrets[user.email]
    with pytest.raises(SealBroken):
        door.sealer.open(user.totp.sealed_secret, totp_row("another"))


async def test_recovery_codes_are_kept_as_slow_digests(door, maria):
    user, codes = await enrolled(door, maria)

    rows = await door.store.identity.users.codes(user.id)

    assert [each.index for each in rows] == list(range(10))
    assert all(each.digest.startswith("$argon2id$") for each in rows)
    assert await door.hasher.matches(codes[7], rows[7].digest)


async def test_a_code_of_one_number_does_not_open_as_another(door, maria):
    user, codes = await enrolled(door, maria)

    assert not await SecondFactorCodes(door.context).accept(user, "08" + codes[7][2:])


async def test_a_right_code_that_was_used_is_told_apart_from_a_wrong_one(door, maria):
    """Somebody looked over a shoulder, or stands between the person and us."""
    user, _ = await enrolled(door, maria)
    door.clock.passes(30)
    code = door.code()

    tried = [await SecondFactorCodes(door.context).accept(user, each) for each in (code, code)]
    reused = door.noticed.count(("authn_factor_reuse", user.id))
    await SecondFactorCodes(door.context).accept(user, door.wrong_code())

    assert tried == [True, False]
    assert reused == door.noticed.count(("authn_factor_reuse", user.id)) == 1


async def test_new_codes_void_the_old_ones(door, maria):
    user, codes = await enrolled(door, maria)

    new = await SecondFactorCodes(door.context).renew(user)

    assert not await SecondFactorCodes(door.context).accept(user, codes[0])
    assert await SecondFactorCodes(door.context).accept(user, new[0])
    assert await SecondFactorCodes(door.context).left(user.id) == 9


async def test_a_right_code_forgives_the_wrong_ones_before(door, maria):
    user, _ = await enrolled(door, maria)
    for _ in range(2):
        for _ in range(9):
            assert not await SecondFactorCodes(door.context).accept(user, door.wrong_code())
        assert await SecondFactorCodes(door.context).accept(user, door.code())
        door.clock.passes(30)


async def test_recovery_codes_count_among_the_wrong_ones(door, maria):
    user, _ = await enrolled(door, maria)
    for _ in range(10):
        assert not await SecondFactorCodes(door.context).accept(user, "00-00000-00000")

    with pytest.raises(ServiceError) as refused:
        await SecondFactorCodes(door.context).accept(user, door.code())

    assert refusal(refused.value) == ("too_many_attempts", "factor")


async def test_without_an_app_no_code_is_right(door, maria):
    assert not await SecondFactorCodes(door.context).accept(maria, "123456")
    assert not await SecondFactorCodes(door.context).app_code(maria, "123456")


async def refused(work) -> tuple[str, str]:
    with pytest.raises(ServiceError) as problem:
        await work
    return refusal(problem.value)


async def test_an_app_is_enrolled_by_password_and_code(door, maria):
    caller = (await door.comes_in()).person

    begun = await door.services.second_factors.begin(caller, PASSWORD, HOME)

    assert begun.uri.startswith("otpauth://totp/pixgate:maria%40example.com?")
    assert f"secret={begun.secret}" in begun.uri
    door.secrets[EMAIL] = begun.secret
    assert len(await door.services.second_factors.confirm(caller, door.code())) == 10
    assert isinstance(
        await door.services.sign_in.login(EMAIL, PASSWORD, HOME), SecondFactorRequired
    )
    assert ("authn_factor_change", maria.id) in door.noticed


async def test_a_stolen_session_alone_enrols_nothing(door, maria):
    caller = (await door.comes_in()).person

    assert await refused(door.services.second_factors.begin(caller, "guess", HOME)) == (
        "password_wrong",
        "password",
    )


async def test_until_its_first_code_the_app_is_not_asked_for(door, maria):
    came = await door.comes_in()
    await door.services.second_factors.begin(came.person, PASSWORD, HOME)

    assert isinstance(await door.services.sign_in.login(EMAIL, PASSWORD, HOME), SignedIn)
    assert await door.who(came)


async def test_a_wrong_first_code_enrols_nothing(door, maria):
    caller = (await door.comes_in()).person
    begun = await door.services.second_factors.begin(caller, PASSWORD, HOME)
    door.secrets[EMAIL] = begun.secret

    assert await refused(door.services.second_factors.confirm(caller, door.wrong_code())) == (
        "mfa_invalid",
        "code",
    )
    assert await door.services.second_factors.recovery_codes_left(caller) == 0


async def test_beginning_again_voids_what_was_begun(door, maria):
    caller = (await door.comes_in()).person
    first = await door.services.second_factors.begin(caller, PASSWORD, HOME)
    await door.services.second_factors.begin(caller, PASSWORD, HOME)
    door.secrets[EMAIL] = first.secret

    assert await refused(door.services.second_factors.confirm(caller, door.code())) == (
        "mfa_invalid",
        "code",
    )


async def test_nothing_is_confirmed_that_was_not_begun(door, maria):
    caller = (await door.comes_in()).person

    assert await refused(door.services.second_factors.confirm(caller, "123456")) == (
        "not_possible",
        "factor_absent",
    )


async def test_a_present_factor_is_not_replaced_behind_its_back(door, maria):
    """Neither by a second enrolment nor by confirming again."""
    await door.enrols()
    caller = (await door.comes_in()).person

    begun = await refused(door.services.second_factors.begin(caller, PASSWORD, HOME))
    confirmed = await refused(door.services.second_factors.confirm(caller, "123456"))

    assert begun == confirmed == ("not_possible", "factor_present")


async def test_enrolling_ends_every_session(door, maria):
    came = await door.comes_in()
    door.clock.passes(1)
    await door.enrols()

    assert await refused(door.who(came)) == ("token_invalid", "session_over")


async def test_a_factor_is_fresh_for_five_minutes(door, maria):
    await door.enrols()
    caller = (await door.comes_in()).person

    door.clock.passes(300)
    door.services.second_factors.require_fresh(caller)
    door.clock.passes(0.001)
    with pytest.raises(ServiceError) as problem:
        door.services.second_factors.require_fresh(caller)

    assert refusal(problem.value) == ("step_up_required", "factor_old")


async def test_a_code_makes_it_fresh_again(door, maria):
    await door.enrols()
    came = await door.comes_in()
    door.clock.passes(301)

    until = await door.services.second_factors.step_up(came.person, door.code())

    caller = await door.who(came)
    assert until == door.clock.now() + timedelta(minutes=5)
    door.services.second_factors.require_fresh(caller)


async def test_a_wrong_code_makes_nothing_fresh(door, maria):
    await door.enrols()
    came = await door.comes_in()
    door.clock.passes(301)

    assert await refused(door.services.second_factors.step_up(came.person, door.wrong_code())) == (
        "mfa_invalid",
        "code",
    )
    caller = await door.who(came)
    with pytest.raises(ServiceError):
        door.services.second_factors.require_fresh(caller)


async def test_who_has_no_factor_cannot_step_up(door, maria):
    """They enrol one first."""
    caller = (await door.comes_in()).person

    assert await refused(door.services.second_factors.step_up(caller, "123456")) == (
        "step_up_required",
        "no_factor",
    )
    with pytest.raises(ServiceError) as problem:
        door.services.second_factors.require_fresh(caller)
    assert refusal(problem.value) == ("step_up_required", "no_factor")


async def test_a_factor_is_removed_with_a_fresh_code_and_every_session_ends(door, maria):
    await door.enrols()
    came = await door.comes_in()
    door.clock.passes(1)

    await door.services.second_factors.remove(came.person)

    assert await refused(door.who(came)) == ("token_invalid", "session_over")
    assert isinstance(await door.services.sign_in.login(EMAIL, PASSWORD, HOME), SignedIn)
    assert await door.services.second_factors.recovery_codes_left(came.person) == 0


@pytest.mark.parametrize("act", ["remove", "new_recovery_codes"])
async def test_without_a_fresh_code_nothing_is_taken_away(door, maria, act: str):
    await door.enrols()
    came = await door.comes_in()
    door.clock.passes(301)

    assert await refused(getattr(door.services.second_factors, act)(came.person)) == (
        "step_up_required",
        "factor_old",
    )


async def test_new_recovery_codes_are_shown_once_and_told_by_mail(door, maria):
    old = await door.enrols()
    came = await door.comes_in()

    new = await door.services.second_factors.new_recovery_codes(came.person)

    assert len(set(new) | set(old)) == 20
    mail = (await door.mails())[0]
    assert "não valem mais" in mail
    assert not any(code in mail for code in new)
    assert await door.who(came)


async def test_after_a_reset_by_an_administrator_a_new_app_is_enrolled(door, maria):
    await door.enrols()
    await door.services.users.reset_mfa("cli", maria.id)
    door.clock.passes(60)

    assert len(await door.enrols()) == 10

    user = await door.store.identity.users.find(maria.id)
    assert (user.has_factor, user.factor_reset) == (True, False)


async def test_a_disabled_person_changes_no_factor(door, maria):
    caller = (await door.comes_in()).person
    await door.services.users.disable("cli", maria.id)

    assert await refused(door.services.second_factors.confirm(caller, "123456")) == (
        "token_invalid",
        "person_disabled",
    )
