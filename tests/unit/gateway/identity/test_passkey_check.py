"""Passkeys at the sign-in and in a session."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gateway.core.schemas import ReasonBody
from gateway.core.user_access import check_fresh_factor
from gateway.identity.sign_in import SecondFactorRequired
from tests.world.acts import acts_of
from tests.world.authenticator import Authenticator
from tests.world.identity import ELSEWHERE, EMAIL, HOME, PASSWORD, IdentityWorld, refusal_of
from tests.world.passkeys import register, sign_in, used
from tests.world.people import CLI

REFUSED = ("passkey_invalid", "passkey")


async def enrolled(
    identity_world: IdentityWorld, email: str = EMAIL, *, counts: bool = True
) -> Authenticator:
    """Register a passkey, the first second factor of a user."""
    authenticator = Authenticator(counts=counts)
    caller = (await identity_world.sign_in(email)).person
    await register(identity_world.services, caller, authenticator)
    identity_world.clock.passes(1)
    return authenticator


async def test_a_passkey_alone_signs_in_with_a_fresh_second_factor(identity_world, maria):
    authenticator = await enrolled(identity_world)

    came = await sign_in(identity_world.services, authenticator)

    assert (came.person.user_id, came.person.has_passkey) == (maria.id, True)
    check_fresh_factor(came.person, identity_world.clock.now())
    assert await identity_world.who(came) == came.person
    assert ("authn_login_success", maria.id) in identity_world.security_events
    assert ("mfa", "passkey.ok") in identity_world.counted


async def test_a_user_with_a_passkey_cannot_sign_in_by_password_alone(identity_world, maria):
    await enrolled(identity_world)

    answer = await identity_world.services.sign_in.login(EMAIL, PASSWORD, HOME)

    assert isinstance(answer, SecondFactorRequired)


async def test_sign_in_options_name_no_passkey_before_a_right_password(identity_world, maria):
    """Nothing tells whether somebody has one."""
    authenticator = await enrolled(identity_world)
    sign_ins = identity_world.services.sign_in
    before = await sign_ins.passkey_options("")
    asked = await sign_ins.login(EMAIL, PASSWORD, HOME)
    assert isinstance(asked, SecondFactorRequired)

    after = await sign_ins.passkey_options(asked.mfa_token)
    elsewhere = await sign_ins.passkey_options(asked.mfa_token, "another browser")

    assert before["allowCredentials"] == elsewhere["allowCredentials"] == []
    assert len(after["allowCredentials"]) == 1
    assert await sign_ins.by_passkey(authenticator.assertion(after), HOME)


async def test_a_challenge_works_once(identity_world, maria):
    """Neither the same answer again nor another answer to it."""
    authenticator = await enrolled(identity_world, counts=False)
    sign_ins = identity_world.services.sign_in
    options = await sign_ins.passkey_options("")
    first, second = authenticator.assertion(options), authenticator.assertion(options)

    assert await sign_ins.by_passkey(second, HOME)
    assert await refusal_of(sign_ins.by_passkey(second, HOME)) == REFUSED
    assert await refusal_of(sign_ins.by_passkey(first, HOME)) == REFUSED


async def test_of_several_uses_of_a_challenge_at_once_one_signs_in(identity_world, maria):
    """Also of a passkey without a counter."""
    authenticator = await enrolled(identity_world, counts=False)
    sign_ins = identity_world.services.sign_in
    answer = authenticator.assertion(await sign_ins.passkey_options(""))

    ended = await asyncio.gather(
        *(sign_ins.by_passkey(answer, HOME) for _ in range(4)), return_exceptions=True
    )

    assert sum(not isinstance(each, BaseException) for each in ended) == 1


async def test_a_challenge_holds_for_five_minutes(identity_world, maria):
    authenticator = await enrolled(identity_world)
    sign_ins = identity_world.services.sign_in
    options = [await sign_ins.passkey_options("") for _ in range(2)]

    identity_world.clock.passes(299)
    assert await sign_ins.by_passkey(authenticator.assertion(options[0]), HOME)
    identity_world.clock.passes(1)
    late = sign_ins.by_passkey(authenticator.assertion(options[1]), HOME)
    assert await refusal_of(late) == REFUSED


async def test_a_challenge_holds_for_its_browser_and_purpose(identity_world, maria):
    authenticator = await enrolled(identity_world)
    services = identity_world.services
    came = await sign_in(services, authenticator)
    of_browser = await services.sign_in.passkey_options("", "one browser")
    of_session = await services.passkeys.options(came.person)

    for options in (of_browser, of_session):
        answer = authenticator.assertion(options)
        assert await refusal_of(services.sign_in.by_passkey(answer, HOME)) == REFUSED
    step_up = services.second_factors.step_up_by_passkey(
        came.person, authenticator.assertion(of_browser), HOME
    )
    assert await refusal_of(step_up) == REFUSED


async def test_an_unknown_passkey_and_a_disabled_user_get_the_same_refusal(identity_world, maria):
    authenticator = await enrolled(identity_world)
    unknown = Authenticator(user_handle=authenticator.user_handle)
    services = identity_world.services
    refused = [await refusal_of(sign_in(services, unknown))]

    await services.users.disable(CLI, maria.id, ReasonBody(reason="left"))
    refused.append(await refusal_of(sign_in(services, authenticator)))

    assert refused == [REFUSED, REFUSED]
    assert ("authn_login_fail", maria.id) in identity_world.security_events


async def test_a_counter_that_steps_back_is_refused_and_mailed(identity_world, maria):
    """A copy of the authenticator may be at work."""
    authenticator = await enrolled(identity_world)
    copied = authenticator.elsewhere()
    await sign_in(identity_world.services, authenticator)

    assert await refusal_of(sign_in(identity_world.services, copied)) == REFUSED

    acts = await acts_of(identity_world.store)
    assert acts[-1].event.action == "passkey.count_fell"
    assert acts[-1].event.subject == f"user:{maria.id}"
    assert "voltou atrás" in (await identity_world.mails())[0]
    assert ("authn_passkey_reuse", maria.id) in identity_world.security_events


async def test_a_passkey_without_a_counter_is_used_again_and_again(identity_world, maria):
    uncounted = await enrolled(identity_world, counts=False)

    for _ in range(3):
        assert await sign_in(identity_world.services, uncounted)


async def test_refused_passkeys_slow_down_their_address_and_no_other(identity_world, maria):
    """As wrong passwords do; right ones do not count."""
    authenticator = await enrolled(identity_world)
    services, unknown = identity_world.services, Authenticator()
    for _ in range(25):
        await sign_in(services, authenticator)
    for _ in range(20):
        assert await refusal_of(sign_in(services, unknown)) == REFUSED

    blocked = await refusal_of(sign_in(services, authenticator))
    other = await sign_in(services, authenticator, ELSEWHERE)

    assert blocked[0] == "too_many_attempts"
    assert other.person.user_id == maria.id
    assert ("mfa", "passkey.locked") in identity_world.counted


async def test_wrong_passwords_of_strangers_do_not_lock_a_passkey_out(identity_world, maria):
    authenticator = await enrolled(identity_world)
    for _ in range(6):
        await refusal_of(identity_world.services.sign_in.login(EMAIL, "guess", ELSEWHERE))

    assert await sign_in(identity_world.services, authenticator)


async def test_a_passkey_makes_the_factor_fresh_in_its_session(identity_world, maria):
    authenticator = await enrolled(identity_world)
    services = identity_world.services
    came = await sign_in(services, authenticator)
    identity_world.clock.passes(301)

    answer = await used(services, came.person, authenticator)
    await services.second_factors.step_up_by_passkey(came.person, answer, HOME)

    check_fresh_factor(await identity_world.who(came), identity_world.clock.now())


async def test_a_passkey_adds_a_network_to_its_session(identity_world, maria):
    authenticator = await enrolled(identity_world)
    services = identity_world.services
    came = await sign_in(services, authenticator)

    answer = await used(services, came.person, authenticator)
    await services.second_factors.step_up_by_passkey(came.person, answer, ELSEWHERE)

    assert (await identity_world.who(came)).is_known_at(ELSEWHERE.address)


async def test_the_passkey_of_another_person_proves_nothing(identity_world, maria):
    """Although it is right, and for this very challenge."""
    await enrolled(identity_world)
    other = "joana@example.com"
    await identity_world.person(other)
    theirs = await enrolled(identity_world, other)
    came = await sign_in(identity_world.services, theirs)
    caller = replace(came.person, user_id=maria.id)
    answer = await used(identity_world.services, caller, theirs)

    refused = identity_world.services.second_factors.step_up_by_passkey(caller, answer, HOME)

    assert await refusal_of(refused) == REFUSED


async def test_ten_refused_passkeys_block_those_of_their_session_alone(identity_world, maria):
    authenticator = await enrolled(identity_world)
    services = identity_world.services
    came, other = [await sign_in(services, authenticator) for _ in range(2)]
    step_up = services.second_factors.step_up_by_passkey
    for _ in range(10):
        answer = await used(services, came.person, Authenticator())
        assert await refusal_of(step_up(came.person, answer, HOME)) == REFUSED

    answer = await used(services, came.person, authenticator)
    assert (await refusal_of(step_up(came.person, answer, HOME)))[0] == "too_many_attempts"
    answer = await used(services, other.person, authenticator)
    assert await step_up(other.person, answer, HOME)


@pytest.mark.parametrize("act", ["options", "registration_options"])
async def test_at_an_ip_address_no_passkey_is_asked_for(identity_world, maria, act: str):
    caller = (await identity_world.sign_in()).person
    party = replace(identity_world.context.relying_party, origin="http://127.0.0.1:8080")
    passkeys = replace(
        identity_world.services.passkeys,
        context=replace(identity_world.context, relying_party=party),
    )

    assert await refusal_of(getattr(passkeys, act)(caller)) == ("not_possible", "no_passkeys_here")
