"""A user's own passkeys: registered, listed, removed; and the end of the last second factor."""

from __future__ import annotations

import asyncio

import pytest

from gateway.core.approvals import Approval, NewOrder
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.identity.passkeys import MOST, NewPasskey
from gateway.identity.reauthentication import Proof
from gateway.identity.second_factor_codes import SecondFactorCodes
from gateway.identity.sessions import SignedIn
from tests.world.acts import acts_of
from tests.world.authenticator import Authenticator
from tests.world.identity import EMAIL, HOME, PASSWORD, IdentityWorld, refusal_of
from tests.world.passkeys import register, sign_in, used
from tests.world.people import CLI

REFUSED = ("passkey_invalid", "passkey")
BY_PASSWORD = Proof(password=PASSWORD)


async def enrolled(identity_world: IdentityWorld, email: str = EMAIL) -> Authenticator:
    authenticator = Authenticator()
    caller = (await identity_world.sign_in(email)).person
    await register(identity_world.services, caller, authenticator)
    identity_world.clock.passes(1)
    return authenticator


async def proof_of(
    identity_world: IdentityWorld, came: SignedIn, authenticator: Authenticator
) -> Proof:
    return Proof(passkey=await used(identity_world.services, came.person, authenticator))


async def test_a_first_passkey_takes_the_password_and_gives_recovery_codes(identity_world, maria):
    came = await identity_world.sign_in()

    codes = await register(identity_world.services, came.person, Authenticator())

    assert len(codes) == 10
    assert await SecondFactorCodes(identity_world.context).left(maria.id) == 10
    (listed,) = await identity_world.services.passkeys.list(came.person)
    assert (listed.name, listed.used_at) == ("Telefone", None)
    assert ("authn_factor_change", maria.id) in identity_world.security_events
    assert "chave de acesso" in "".join(await identity_world.mails())
    acts = [each.event for each in await acts_of(identity_world.store)]
    assert (acts[-2].action, acts[-2].details["name"]) == ("passkey.registered", "Telefone")


async def test_registering_keeps_the_session_and_needs_a_factor_from_then_on(identity_world, maria):
    came = await identity_world.sign_in()

    await register(identity_world.services, came.person, Authenticator())

    caller = await identity_world.who(came)
    assert (caller.has_factor, caller.has_app, caller.factor_at) == (True, False, None)


async def test_the_first_passkey_ends_the_other_sessions_and_a_further_one_none(
    identity_world, maria
):
    """They were begun by the password alone, perhaps by somebody who has stolen it."""
    stolen, came = await identity_world.sign_in(), await identity_world.sign_in()
    first, second = Authenticator(), Authenticator()

    await register(identity_world.services, came.person, first)
    identity_world.clock.passes(1)
    other = await sign_in(identity_world.services, first)
    proof = await proof_of(identity_world, came, first)
    await register(identity_world.services, came.person, second, proof)

    assert await refusal_of(identity_world.who(stolen)) == ("token_invalid", "session_over")
    assert await identity_world.who(came)
    assert await identity_world.who(other)


async def test_a_recovery_code_signs_a_user_with_a_passkey_in(identity_world, maria):
    """For a lost telephone."""
    came = await identity_world.sign_in()
    codes = await register(identity_world.services, came.person, Authenticator())
    sign_ins = identity_world.services.sign_in
    asked = await sign_ins.login(EMAIL, PASSWORD, HOME)

    assert await sign_ins.submit_code(asked.mfa_token, codes[3], HOME)


async def test_another_passkey_takes_a_passkey_or_the_password_and_a_code(identity_world, maria):
    """In the call itself: the fresh factor of the session is in each copy of it."""
    await identity_world.enrol()
    came = await identity_world.sign_in()
    first, second = Authenticator(), Authenticator()
    services = identity_world.services
    by_password = register(services, came.person, first, BY_PASSWORD)
    assert await refusal_of(by_password) == ("mfa_invalid", "code")
    identity_world.clock.passes(30)

    by_code = Proof(password=PASSWORD, code=identity_world.code())
    codes = await register(services, came.person, first, by_code)
    by_passkey = await proof_of(identity_world, came, first)
    more = await register(services, came.person, second, by_passkey)

    assert (codes, more) == ((), ())
    assert len(await services.passkeys.list(came.person)) == 2


async def test_without_any_proof_nothing_is_registered(identity_world, maria):
    caller = (await identity_world.sign_in()).person

    refused = register(identity_world.services, caller, Authenticator(), Proof())
    guessed = register(identity_world.services, caller, Authenticator(), Proof(password="guess"))

    assert await refusal_of(refused) == ("validation_failed", "missing")
    assert await refusal_of(guessed) == ("password_wrong", "password")
    assert await identity_world.services.passkeys.list(caller) == []


@pytest.mark.parametrize(
    "changed",
    [{"is_verifying": False}, {"origin": "https://evil.example"}, {"rp_id": "evil.example"}],
    ids=["not verified", "another origin", "another host"],
)
async def test_a_wrong_answer_registers_nothing(identity_world, maria, changed):
    caller = (await identity_world.sign_in()).person

    refused = register(identity_world.services, caller, Authenticator(**changed))

    assert await refusal_of(refused) == REFUSED
    assert await identity_world.services.passkeys.list(caller) == []
    assert await SecondFactorCodes(identity_world.context).left(maria.id) == 0


async def test_registration_options_work_once_in_their_session(identity_world, maria):
    services = identity_world.services
    came, other = await identity_world.sign_in(), await identity_world.sign_in()
    options = await services.passkeys.registration_options(came.person)
    authenticator = Authenticator(counts=False)

    def wanted(made: Authenticator) -> NewPasskey:
        registration = made.registration(options)
        return NewPasskey(name="Chave", registration=registration, password=PASSWORD)

    elsewhere = services.passkeys.register(other.person, wanted(authenticator), HOME)
    assert await refusal_of(elsewhere) == REFUSED
    await services.passkeys.register(came.person, wanted(authenticator), HOME)
    proof = await used(services, came.person, authenticator)
    again = NewPasskey(
        name="Outra", registration=Authenticator().registration(options), passkey=proof
    )
    assert await refusal_of(services.passkeys.register(came.person, again, HOME)) == REFUSED


async def test_a_passkey_is_registered_for_one_user(identity_world, maria):
    await identity_world.person("joana@example.com")
    authenticator = await enrolled(identity_world)
    joana = (await identity_world.sign_in("joana@example.com")).person

    again = register(identity_world.services, joana, authenticator)

    assert await refusal_of(again) == ("not_possible", "passkey_known")


async def test_of_two_registrations_of_one_passkey_at_once_one_counts(identity_world, maria):
    """The codes that are shown are those that work."""
    came, authenticator = await identity_world.sign_in(), Authenticator()
    services = identity_world.services

    ended = await asyncio.gather(
        *(register(services, came.person, authenticator) for _ in range(2)),
        return_exceptions=True,
    )

    [codes] = [each for each in ended if not isinstance(each, Exception)]
    [refused] = [each for each in ended if isinstance(each, ServiceError)]
    assert refused.reason in {"passkey_known", "changed_meanwhile"}
    assert len(await services.passkeys.list(came.person)) == 1
    asked = await services.sign_in.login(EMAIL, PASSWORD, HOME)
    assert await services.sign_in.submit_code(asked.mfa_token, codes[0], HOME)


async def test_a_user_has_ten_passkeys_at_most(identity_world, maria):
    authenticator = await enrolled(identity_world)
    services, came = identity_world.services, await sign_in(identity_world.services, authenticator)
    for _ in range(MOST - 1):
        proof = await proof_of(identity_world, came, authenticator)
        await register(services, came.person, Authenticator(), proof)

    refused = services.passkeys.registration_options(came.person)

    assert await refusal_of(refused) == ("not_possible", "passkeys_full")


@pytest.mark.parametrize(
    ("name", "why"),
    [("", "missing"), (" ", "missing"), ("x" * 61, "text_form"), ("a\nb", "text_form")],
)
async def test_the_name_of_a_passkey_is_a_plain_text(identity_world, maria, name: str, why: str):
    caller = (await identity_world.sign_in()).person

    refused = register(identity_world.services, caller, Authenticator(), name=name)

    assert await refusal_of(refused) == ("validation_failed", why)


async def test_a_use_is_shown_in_the_list(identity_world, maria):
    authenticator = await enrolled(identity_world)

    came = await sign_in(identity_world.services, authenticator)

    (listed,) = await identity_world.services.passkeys.list(came.person)
    assert listed.used_at == identity_world.clock.now()


async def two(identity_world: IdentityWorld) -> tuple[Authenticator, Authenticator]:
    """Register two passkeys, and no app."""
    first, second = await enrolled(identity_world), Authenticator()
    came = await sign_in(identity_world.services, first)
    proof = await proof_of(identity_world, came, first)
    await register(identity_world.services, came.person, second, proof)
    return first, second


async def test_removing_one_of_two_passkeys_ends_every_session_and_is_mailed(identity_world, maria):
    first, second = await two(identity_world)
    services = identity_world.services
    came = await sign_in(services, first)
    lost = next(
        each.id for each in await services.passkeys.list(came.person) if each.used_at is None
    )
    identity_world.clock.passes(1)

    proof = await proof_of(identity_world, came, first)
    assert await services.passkeys.remove(came.person, lost, proof, HOME) is None

    assert await refusal_of(identity_world.who(came)) == ("token_invalid", "session_over")
    identity_world.clock.passes(1)
    assert await refusal_of(sign_in(services, second)) == REFUSED
    assert await sign_in(services, first)
    assert "removida" in "".join(await identity_world.mails())
    words = [each.event.action for each in await acts_of(identity_world.store)]
    assert {"passkey.removed", "sessions.ended"} <= set(words)


async def test_removing_takes_a_proof_in_the_call_and_an_own_passkey(identity_world, maria):
    first, _ = await two(identity_world)
    await identity_world.person("joana@example.com")
    joana = await enrolled(identity_world, "joana@example.com")
    services = identity_world.services
    came, hers = await sign_in(services, first), await sign_in(services, joana)
    passkey_id = (await services.passkeys.list(came.person))[0].id
    remove = services.passkeys.remove

    assert (await refusal_of(remove(came.person, passkey_id, BY_PASSWORD, HOME)))[
        0
    ] == "mfa_invalid"
    proof = await proof_of(identity_world, hers, joana)
    assert await refusal_of(remove(hers.person, passkey_id, proof, HOME)) == (
        "not_found",
        "passkey",
    )
    assert len(await services.passkeys.list(came.person)) == 2


async def refused_wait(_caller: SignedInUser, _order: NewOrder) -> Approval:
    """Refuse the order that the later of two removals is, if it reads after the other's end."""
    raise ServiceError(NOT_POSSIBLE, "approval")


async def test_of_two_removals_at_once_one_factor_is_left(identity_world, maria):
    """Each alone would leave the other passkey; both together would leave none."""
    first, second = await two(identity_world)
    services = identity_world.services
    services.factor_removals.wait = refused_wait
    came = await sign_in(services, first)
    listed = await services.passkeys.list(came.person)
    identity_world.clock.passes(1)
    proofs = [await proof_of(identity_world, came, each) for each in (first, second)]

    async def remove(passkey_id: str, proof: Proof) -> object:
        try:
            return await services.passkeys.remove(came.person, passkey_id, proof, HOME)
        except ServiceError as refused:
            return refused

    await asyncio.gather(*(remove(one.id, each) for one, each in zip(listed, proofs, strict=True)))

    assert len(await services.passkeys.list(came.person)) == 1


async def test_an_app_is_enrolled_beside_a_passkey_and_removed_again(identity_world, maria):
    authenticator = await enrolled(identity_world)
    services = identity_world.services
    came = await sign_in(services, authenticator)
    factors = services.second_factors
    by_password = factors.begin(came.person, Proof(PASSWORD), HOME)
    assert (await refusal_of(by_password))[0] == "mfa_invalid"

    answer = await used(services, came.person, authenticator)
    begun = await factors.begin(came.person, Proof(passkey=answer), HOME)
    identity_world.secrets[EMAIL] = begun.secret
    await factors.confirm(came.person, identity_world.code())
    identity_world.clock.passes(30)
    came = await sign_in(services, authenticator)
    assert (came.person.has_app, came.person.has_passkey) == (True, True)
    removed = await factors.remove(came.person, Proof(PASSWORD, identity_world.code()), HOME)

    assert removed is None
    identity_world.clock.passes(1)
    assert (await sign_in(services, authenticator)).person.has_app is False


async def test_an_app_that_is_being_enrolled_proves_nothing(identity_world, maria):
    """Neither at the sign-in nor for a lasting act: its first code is still to come."""
    authenticator = await enrolled(identity_world)
    services = identity_world.services
    came = await sign_in(services, authenticator)
    answer = await used(services, came.person, authenticator)
    begun = await services.second_factors.begin(came.person, Proof(passkey=answer), HOME)
    identity_world.secrets[EMAIL] = begun.secret
    code = identity_world.code()

    asked = await services.sign_in.login(EMAIL, PASSWORD, HOME)
    entered = services.sign_in.submit_code(asked.mfa_token, code, HOME)
    renewed = services.second_factors.new_recovery_codes(came.person, Proof(PASSWORD, code), HOME)

    assert await refusal_of(entered) == ("mfa_invalid", "code")
    assert await refusal_of(renewed) == ("mfa_invalid", "code")


async def test_an_administrator_resets_passkeys_too(identity_world, maria):
    authenticator = await enrolled(identity_world)

    await identity_world.services.users.reset_mfa(CLI, maria.id)

    assert not (await identity_world.services.users.find(maria.id)).has_factor
    assert await refusal_of(sign_in(identity_world.services, authenticator)) == REFUSED
