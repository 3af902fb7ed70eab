"""Second factors."""

import base64
from datetime import timedelta

import pytest

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.schemas import ReasonBody
from gateway.core.sessions import person
from gateway.core.user_access import check_fresh_factor
from gateway.identity.reauthentication import Proof
from gateway.identity.second_factor_codes import SecondFactorCodes
from gateway.identity.sessions import SignedIn
from gateway.identity.sign_in import SecondFactorRequired
from tests.world.acts import acts_of
from tests.world.identity import ELSEWHERE, EMAIL, HOME, PASSWORD, refusal, refusal_of
from tests.world.people import CLI


async def test_an_app_is_enrolled_by_password_and_code(identity_world, maria):
    caller = (await identity_world.sign_in()).person

    begun = await identity_world.services.second_factors.begin(caller, Proof(PASSWORD), HOME)

    assert begun.uri.startswith("otpauth://totp/pixgate:maria%40example.com?")
    assert f"secret={begun.secret}" in begun.uri
    assert len(base64.b32decode(begun.secret)) == 20
    identity_world.secrets[EMAIL] = begun.secret
    assert (
        len(await identity_world.services.second_factors.confirm(caller, identity_world.code()))
        == 10
    )
    assert isinstance(
        await identity_world.services.sign_in.login(EMAIL, PASSWORD, HOME), SecondFactorRequired
    )
    assert ("authn_factor_change", maria.id) in identity_world.security_events


async def test_enrolling_requires_the_password(identity_world, maria):
    caller = (await identity_world.sign_in()).person

    assert await refusal_of(
        identity_world.services.second_factors.begin(caller, Proof("guess"), HOME)
    ) == ("password_wrong", "password")


async def test_an_unconfirmed_app_is_not_required_at_sign_in(identity_world, maria):
    came = await identity_world.sign_in()
    await identity_world.services.second_factors.begin(came.person, Proof(PASSWORD), HOME)

    assert isinstance(await identity_world.services.sign_in.login(EMAIL, PASSWORD, HOME), SignedIn)
    assert await identity_world.who(came)


async def test_a_wrong_first_code_enrols_nothing(identity_world, maria):
    caller = (await identity_world.sign_in()).person
    begun = await identity_world.services.second_factors.begin(caller, Proof(PASSWORD), HOME)
    identity_world.secrets[EMAIL] = begun.secret

    assert await refusal_of(
        identity_world.services.second_factors.confirm(caller, identity_world.wrong_code())
    ) == ("mfa_invalid", "code")
    assert await SecondFactorCodes(identity_world.context).left(caller.user_id) == 0


async def test_a_second_enrolment_voids_the_first(identity_world, maria):
    caller = (await identity_world.sign_in()).person
    first = await identity_world.services.second_factors.begin(caller, Proof(PASSWORD), HOME)
    await identity_world.services.second_factors.begin(caller, Proof(PASSWORD), HOME)
    identity_world.secrets[EMAIL] = first.secret

    assert await refusal_of(
        identity_world.services.second_factors.confirm(caller, identity_world.code())
    ) == ("mfa_invalid", "code")


async def test_an_enrolment_not_begun_cannot_be_confirmed(identity_world, maria):
    caller = (await identity_world.sign_in()).person

    assert await refusal_of(identity_world.services.second_factors.confirm(caller, "123456")) == (
        "not_possible",
        "factor_absent",
    )


async def test_a_present_factor_cannot_be_enrolled_again(identity_world, maria):
    """Neither by a second enrolment nor by confirming again."""
    await identity_world.enrol()
    caller = (await identity_world.sign_in()).person

    begun = await refusal_of(
        identity_world.services.second_factors.begin(caller, Proof(PASSWORD), HOME)
    )
    confirmed = await refusal_of(identity_world.services.second_factors.confirm(caller, "123456"))

    assert begun == confirmed == ("not_possible", "factor_present")


async def test_enrolling_ends_every_session(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.clock.passes(1)
    await identity_world.enrol()

    assert await refusal_of(identity_world.who(came)) == ("token_invalid", "session_over")


async def test_a_factor_is_fresh_for_five_minutes(identity_world, maria):
    await identity_world.enrol()
    caller = (await identity_world.sign_in()).person

    identity_world.clock.passes(300)
    check_fresh_factor(caller, identity_world.clock.now())
    identity_world.clock.passes(0.001)
    with pytest.raises(ServiceError) as problem:
        check_fresh_factor(caller, identity_world.clock.now())

    assert refusal(problem.value) == ("step_up_required", "factor_old")


async def test_a_code_makes_the_factor_fresh_for_five_minutes(identity_world, maria):
    await identity_world.enrol()
    came = await identity_world.sign_in()
    identity_world.clock.passes(301)

    until = await identity_world.services.second_factors.step_up(
        came.person, identity_world.code(), HOME
    )

    caller = await identity_world.who(came)
    assert until == identity_world.clock.now() + timedelta(minutes=5)
    check_fresh_factor(caller, identity_world.clock.now())


async def test_a_wrong_code_does_not_make_the_factor_fresh(identity_world, maria):
    await identity_world.enrol()
    came = await identity_world.sign_in()
    identity_world.clock.passes(301)

    assert await refusal_of(
        identity_world.services.second_factors.step_up(
            came.person, identity_world.wrong_code(), HOME
        )
    ) == ("mfa_invalid", "code")
    caller = await identity_world.who(came)
    with pytest.raises(ServiceError):
        check_fresh_factor(caller, identity_world.clock.now())


async def test_a_code_from_a_new_network_adds_it_only_to_its_session(identity_world, maria):
    """The next address of that network needs no code; another session of the user does."""
    await identity_world.enrol()
    came = await identity_world.sign_in()
    identity_world.clock.passes(30)
    other = await identity_world.sign_in()
    identity_world.clock.passes(30)
    assert not came.person.is_known_at(ELSEWHERE.address)

    await identity_world.services.second_factors.step_up(
        came.person, identity_world.code(), ELSEWHERE
    )

    caller = await identity_world.who(came)
    assert caller.is_known_at("198.51.100.200")
    assert caller.is_known_at(HOME.address)
    assert not (await identity_world.who(other)).is_known_at(ELSEWHERE.address)
    acts = await acts_of(identity_world.store)
    assert acts[-1].event.action == "session.network_added"
    assert acts[-1].event.details["address"] == ELSEWHERE.address


async def test_wrong_codes_from_another_network_do_not_lock_the_user_out(identity_world, maria):
    """They count for the session that tries them; codes still work in the user's own session."""
    await identity_world.enrol()
    came = await identity_world.sign_in()
    identity_world.clock.passes(30)
    factors, wrong = identity_world.services.second_factors, identity_world.wrong_code()

    tried = [await refusal_of(factors.step_up(came.person, wrong, ELSEWHERE)) for _ in range(11)]

    assert [each[0] for each in tried] == ["mfa_invalid"] * 10 + ["too_many_attempts"]
    assert not (await identity_world.who(came)).is_known_at(ELSEWHERE.address)
    assert await factors.step_up(came.person, identity_world.code(), HOME)
    identity_world.clock.passes(30)
    assert await identity_world.sign_in(client=ELSEWHERE)


async def test_a_session_keeps_its_twenty_newest_networks(identity_world, maria):
    await identity_world.enrol()
    came = await identity_world.sign_in()
    sessions = identity_world.context.stores.sessions
    for number in range(21):
        identity_world.clock.passes(30)
        at = ClientInfo(address=f"10.0.{number}.1")
        session, user = await sessions.find(came.person.session_id)
        await identity_world.services.second_factors.step_up(
            person(user, session), identity_world.code(), at
        )

    session, _ = await sessions.find(came.person.session_id)

    assert len(session.networks) == 20
    assert (session.networks[0], session.networks[-1]) == ("10.0.1.0/24", "10.0.20.0/24")


async def test_a_user_without_a_factor_cannot_step_up(identity_world, maria):
    """They enrol one first."""
    caller = (await identity_world.sign_in()).person

    assert await refusal_of(
        identity_world.services.second_factors.step_up(caller, "123456", HOME)
    ) == ("step_up_required", "no_factor")
    with pytest.raises(ServiceError) as problem:
        check_fresh_factor(caller, identity_world.clock.now())
    assert refusal(problem.value) == ("step_up_required", "no_factor")


async def test_a_factor_is_removed_with_a_code_and_every_session_ends(identity_world, maria):
    await identity_world.enrol()
    came = await identity_world.sign_in()
    identity_world.clock.passes(30)

    await identity_world.services.second_factors.remove(
        came.person, Proof(PASSWORD, identity_world.code()), HOME
    )

    assert await refusal_of(identity_world.who(came)) == ("token_invalid", "session_over")
    assert isinstance(await identity_world.services.sign_in.login(EMAIL, PASSWORD, HOME), SignedIn)
    assert await SecondFactorCodes(identity_world.context).left(came.person.user_id) == 0


async def test_new_recovery_codes_are_shown_once_and_reported_by_mail(identity_world, maria):
    old = await identity_world.enrol()
    came = await identity_world.sign_in()
    identity_world.clock.passes(30)

    new = await identity_world.services.second_factors.new_recovery_codes(
        came.person, Proof(PASSWORD, identity_world.code()), HOME
    )

    assert len(set(new) | set(old)) == 20
    mail = (await identity_world.mails())[0]
    assert "não valem mais" in mail
    assert not any(code in mail for code in new)
    assert await identity_world.who(came)


async def test_after_a_reset_by_an_administrator_a_new_app_is_enrolled(identity_world, maria):
    await identity_world.enrol()
    await identity_world.services.users.reset_mfa(CLI, maria.id)
    identity_world.clock.passes(60)

    assert len(await identity_world.enrol()) == 10

    user = await identity_world.store.identity.users.find(maria.id)
    assert (user.has_factor, user.factor_reset) == (True, False)


async def test_a_disabled_user_cannot_change_the_factor(identity_world, maria):
    caller = (await identity_world.sign_in()).person
    await identity_world.services.users.disable(CLI, maria.id, ReasonBody())

    assert await refusal_of(identity_world.services.second_factors.confirm(caller, "123456")) == (
        "token_invalid",
        "person_disabled",
    )
