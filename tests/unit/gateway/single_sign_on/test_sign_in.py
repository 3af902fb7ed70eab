"""A sign-in at a company's provider: who comes in, as whom, with which roles, and how it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway.companies.model import Company
from gateway.companies.service import add_company
from gateway.core.rights import Role
from gateway.core.storage import StoreUnavailable
from gateway.core.user import User
from gateway.identity.model import InvitationBody
from gateway.identity.reauthentication import Proof
from gateway.identity.sessions import SignedIn
from gateway.identity.sign_in import SecondFactorRequired
from gateway.identity.store import StoredSessions
from gateway.single_sign_on.model import RoleValue
from gateway.telemetry.ports import Event, SignOnOutcome
from tests.unit.gateway.single_sign_on.world import COMPANY, SignOnWorld, headers_of
from tests.world.authenticator import Authenticator
from tests.world.identity import HOME, PASSWORD, refusal_of
from tests.world.issuer import ANA, DOMAIN
from tests.world.passkeys import register
from tests.world.people import CLI
from tests.world.stores import samples

REFUSED = ("sign_in_refused", "sign_on_refused")
TAKEN = ("sign_in_refused", "sign_on_taken")
NO_ROLE = ("sign_in_refused", "sign_on_no_role")
LOCAL = ("sign_in_refused", "single_sign_on")
NO_EMAIL = ("sign_in_refused", "sign_on_no_email")
NOT_AGAIN = ("sign_in_refused", "sign_on_not_again")
AGAIN = ("not_possible", "sign_in_again")
TOO_MANY = ("sign_in_refused", "sign_on_too_many")
DOWN = ("auth_unavailable", "issuer_unreachable")
OTHER = "6f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02"


async def invited(
    world: SignOnWorld, *roles: Role, companies: tuple[str, ...] = (COMPANY,), email: str = ANA
) -> User:
    order = InvitationBody(email=email, name="Ana", roles=list(roles), companies=list(companies))
    return await world.identity.services.users.create(CLI, order, PASSWORD)


async def test_a_first_sign_in_makes_a_user_of_the_company_with_the_roles_of_the_mapping(
    sign_on_world: SignOnWorld,
):
    proof = await sign_on_world.proof()
    came = await sign_on_world.enter(proof)

    assert isinstance(came, SignedIn)
    user = proof.user
    assert (user.email, user.name, user.state) == (ANA, "Ana Souza", "active")
    assert (user.roles, user.companies) == ({Role.OPERATOR}, {COMPANY})
    assert (user.issuer, user.subject) == (sign_on_world.issuer.origin, "4711")
    assert came.person.by_issuer
    assert came.person.factor_at is None
    assert (Event.SINGLE_SIGN_ON, SignOnOutcome.PROVEN) in sign_on_world.identity.counted


async def test_a_user_is_known_by_the_subject_whatever_the_address_is_then(
    sign_on_world: SignOnWorld,
):
    first = (await sign_on_world.proof()).user
    sign_on_world.issuer.person |= {"email": f"ana.souza@{DOMAIN}"}

    second = (await sign_on_world.proof()).user

    assert (second.id, second.email) == (first.id, ANA)


async def test_a_provider_makes_few_users_in_a_day_and_signs_in_those_it_has(
    sign_on_world: SignOnWorld,
):
    world = sign_on_world
    world.sign_on = replace(world.sign_on, most_new=2)

    async def come(name: str) -> User:
        world.issuer.person |= {"sub": name, "email": f"{name}@{DOMAIN}"}
        return (await world.proof()).user

    first, _ = await come("ana"), await come("bia")

    assert await refusal_of(come("caio")) == TOO_MANY
    assert ("authn_sign_on_refused", "") in world.identity.security_events
    assert (await come("ana")).id == first.id
    world.identity.clock.passes(86_400)
    assert (await come("caio")).email == f"caio@{DOMAIN}"


async def test_a_user_of_a_domain_that_the_company_gave_up_is_refused(sign_on_world: SignOnWorld):
    await sign_on_world.proof()
    sign_on_world.identity.clock.passes(1)
    await sign_on_world.set(domains=("other.example.com",))
    sign_on_world.issuer.person |= {"email": "ana@other.example.com"}

    assert await refusal_of(sign_on_world.proof()) == NO_EMAIL


async def test_a_subject_is_compared_exactly(sign_on_world: SignOnWorld):
    first = (await sign_on_world.proof()).user
    sign_on_world.issuer.person |= {"sub": " 4711", "email": f"bia@{DOMAIN}", "sid": " s "}

    other = await sign_on_world.proof()

    assert other.user.id != first.id
    assert other.by.sid == " s "


async def test_a_provider_changed_during_the_sign_in_is_refused(sign_on_world: SignOnWorld):
    """One that is removed could hold an answer back, and let somebody in afterwards."""
    world = sign_on_world

    async def removed() -> None:
        await world.providers.remove(world.staff, COMPANY)

    async def narrowed() -> None:
        world.identity.clock.passes(1)
        await world.set(mapping=(RoleValue("pix-operators", Role.VIEWER),))

    for meanwhile in (narrowed, removed):
        world.issuer.meanwhile = meanwhile

        assert await refusal_of(world.proof()) == REFUSED
    assert await world.identity.context.stores.users.find_by_email(ANA) is None


async def test_each_sign_in_replaces_the_roles_and_ends_the_sessions_of_the_former_ones(
    sign_on_world: SignOnWorld,
):
    came = await sign_on_world.sign_in()
    assert isinstance(came, SignedIn)
    sign_on_world.issuer.person |= {"groups": ["pix-viewers", "others"]}
    sign_on_world.identity.clock.passes(1)

    again = (await sign_on_world.proof()).user

    assert again.roles == {Role.VIEWER}
    assert (await refusal_of(sign_on_world.identity.who(came)))[0] == "token_invalid"


@pytest.mark.parametrize(
    "groups", [None, [], ["pix-operator"], "PIX-OPERATORS", {"pix-operators": True}, 7]
)
async def test_a_user_without_a_mapped_value_cannot_sign_in(
    sign_on_world: SignOnWorld, groups: object
):
    sign_on_world.issuer.changed = {"groups": groups}

    assert await refusal_of(sign_on_world.proof()) == NO_ROLE
    assert await sign_on_world.identity.context.stores.users.find_by_email(ANA) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": ["pixgate", "another-client"]},
        {"azp": "another-client"},
        {"iss": "https://sso.other.example"},
        {"exp": 1},
        {"iat": 1},
        {"sub": None},
        {"sub": 4711},
        {"sub": "s" * 256},
    ],
)
async def test_a_token_of_another_sign_in_client_issuer_or_time_is_refused(
    sign_on_world: SignOnWorld, changed: dict[str, Any]
):
    sign_on_world.issuer.changed = changed

    assert await refusal_of(sign_on_world.proof()) == REFUSED
    assert sign_on_world.identity.counted[-1] == (Event.SINGLE_SIGN_ON, SignOnOutcome.REFUSED)


async def test_an_answer_is_taken_once(sign_on_world: SignOnWorld):
    """Also where the provider would give a second token for the same state."""
    departure, back = await sign_on_world.leave()
    again = sign_on_world.issuer.answer(departure.url)
    await sign_on_world.prove(back, departure.cookie)

    assert await refusal_of(sign_on_world.prove(back, departure.cookie)) == REFUSED
    assert await refusal_of(sign_on_world.prove(again, departure.cookie)) == REFUSED


async def test_an_answer_is_taken_in_the_browser_that_left(sign_on_world: SignOnWorld):
    departure, back = await sign_on_world.leave()
    other, _ = await sign_on_world.leave()

    forged = departure.cookie[:60] + ("B" if departure.cookie[60] == "A" else "A")
    for cookie in ("", other.cookie, forged + departure.cookie[61:]):
        assert await refusal_of(sign_on_world.prove(back, cookie)) == REFUSED
    sign_on_world.identity.clock.passes(601)
    assert await refusal_of(sign_on_world.prove(back, departure.cookie)) == REFUSED


@pytest.mark.parametrize("named", ["https://sso.other.example", ""])
async def test_an_answer_names_the_issuer_that_was_left_for(sign_on_world: SignOnWorld, named: str):
    """A provider that says that it names itself always does (RFC 9207)."""
    departure, back = await sign_on_world.leave()

    mixed = sign_on_world.prove({**back, "iss": named}, departure.cookie)

    assert await refusal_of(mixed) == REFUSED
    assert "/token" not in sign_on_world.issuer.asked


async def test_an_answer_comes_to_the_address_of_its_company(sign_on_world: SignOnWorld):
    """Providers that do not name themselves are told apart by it."""
    sign_on_world.issuer.names_itself = False
    departure, back = await sign_on_world.leave()

    mixed = sign_on_world.prove(back, departure.cookie, OTHER)

    assert await refusal_of(mixed) == REFUSED
    assert (await sign_on_world.prove(back, departure.cookie)).user.email == ANA


async def test_an_error_of_the_provider_is_refused(sign_on_world: SignOnWorld):
    departure, back = await sign_on_world.leave()

    denied = sign_on_world.prove({**back, "error": "access_denied"}, departure.cookie)

    assert await refusal_of(denied) == REFUSED


async def test_a_code_goes_with_the_verifier_of_its_own_sign_in(sign_on_world: SignOnWorld):
    departure, back = await sign_on_world.leave()
    _, other = await sign_on_world.leave()

    injected = sign_on_world.prove({**back, "code": other["code"]}, departure.cookie)

    assert await refusal_of(injected) == REFUSED


async def test_an_existing_user_who_may_do_no_more_is_taken(sign_on_world: SignOnWorld):
    user = await invited(sign_on_world, Role.OPERATOR)

    assert (await sign_on_world.proof()).user.id == user.id
    assert (await sign_on_world.found(user)).subject == "4711"


@pytest.mark.parametrize("verified", [None, False, "true"])
async def test_an_unproven_address_links_no_user(sign_on_world: SignOnWorld, verified: object):
    user = await invited(sign_on_world, Role.OPERATOR)
    sign_on_world.issuer.changed = {"email_verified": verified}

    assert (await refusal_of(sign_on_world.proof()))[0] == "sign_in_refused"
    assert (await sign_on_world.found(user)).subject is None


@pytest.mark.parametrize("roles", [(Role.ADMIN,), (Role.OPERATOR, Role.APPROVER)])
async def test_a_user_who_may_do_more_is_not_taken(
    sign_on_world: SignOnWorld, roles: tuple[Role, ...]
):
    user = await invited(sign_on_world, *roles)

    assert await refusal_of(sign_on_world.proof()) == TAKEN
    assert (await sign_on_world.found(user)).roles == frozenset(roles)


@pytest.mark.parametrize("companies", [(), (OTHER,), (COMPANY, OTHER)])
async def test_a_user_of_another_company_is_not_taken(
    sign_on_world: SignOnWorld, companies: tuple[str, ...]
):
    await another_company(sign_on_world)
    user = await invited(sign_on_world, Role.VIEWER, companies=companies)

    assert await refusal_of(sign_on_world.proof()) == TAKEN
    assert (await sign_on_world.found(user)).companies == frozenset(companies)


async def another_company(world: SignOnWorld) -> None:
    other = Company(OTHER, "Outra", samples.NOW, "")
    await add_company(world.identity.store.database, other, samples.event())


async def test_a_known_user_who_sees_more_companies_by_now_is_refused(sign_on_world: SignOnWorld):
    """The provider of one company signs nobody in who sees another's records."""
    await another_company(sign_on_world)
    user = (await sign_on_world.proof()).user
    widened = {"companies": frozenset({COMPANY, OTHER})}
    await changed(sign_on_world, user, **widened)

    assert await refusal_of(sign_on_world.proof()) == TAKEN


async def changed(world: SignOnWorld, user: User, **fields: Any) -> None:
    await world.identity.context.change_user(
        user.id, lambda each: replace(each, **fields), lambda _user: samples.event()
    )
    world.identity.clock.passes(1)


async def test_a_disabled_user_is_refused(sign_on_world: SignOnWorld):
    user = (await sign_on_world.proof()).user
    await changed(sign_on_world, user, active=False)

    assert await refusal_of(sign_on_world.proof()) == REFUSED


async def test_an_address_given_to_another_person_links_no_user(sign_on_world: SignOnWorld):
    await sign_on_world.proof()
    sign_on_world.issuer.person |= {"sub": "0815"}

    assert await refusal_of(sign_on_world.proof()) == TAKEN


@pytest.mark.parametrize("email", [None, "ana", "ana@other.example", f"ana@mail.{DOMAIN}"])
async def test_a_user_is_made_for_an_address_of_the_company_alone(
    sign_on_world: SignOnWorld, email: str | None
):
    """Else a company's provider could take the addresses of others' people."""
    sign_on_world.issuer.changed = {"email": email}

    assert await refusal_of(sign_on_world.proof()) == NO_EMAIL


async def test_a_break_glass_person_is_never_signed_in_by_the_provider(sign_on_world: SignOnWorld):
    user = await invited(sign_on_world, Role.OPERATOR)
    await sign_on_world.set(break_glass=(ANA,))

    assert await refusal_of(sign_on_world.proof()) == TAKEN
    assert (await sign_on_world.found(user)).subject is None


async def test_our_second_factor_is_asked_for_unless_the_provider_s_is_trusted(
    sign_on_world: SignOnWorld,
):
    user = await invited(sign_on_world, Role.OPERATOR, companies=())
    await sign_on_world.identity.enrol(ANA)
    await changed(sign_on_world, user, companies=frozenset({COMPANY}))
    sign_on_world.issuer.person |= {"amr": ["pwd", "otp"], "acr": "silver"}

    asked = await sign_on_world.sign_in()
    assert isinstance(asked, SecondFactorRequired)
    code = sign_on_world.identity.code(ANA)
    came = await sign_on_world.identity.services.sign_in.submit_code(asked.mfa_token, code, HOME)
    await sign_on_world.set(factor_amr=("otp", "hwk"))
    by_amr = await sign_on_world.sign_in()
    await sign_on_world.set(factor_acr=("silver",))
    by_acr = await sign_on_world.sign_in()

    assert came.person.by_issuer
    assert isinstance(by_amr, SignedIn)
    assert isinstance(by_acr, SignedIn)
    assert by_amr.person.factor_at is None  # a fresh factor stays ours


async def test_a_first_second_factor_takes_a_sign_in_that_the_provider_has_just_asked_for(
    sign_on_world: SignOnWorld,
):
    """A silent sign-in shows no more than that the browser has a session there."""
    factors, clock = sign_on_world.identity.services.second_factors, sign_on_world.identity.clock

    async def enrols(*, again: bool) -> None:
        came = await sign_on_world.sign_in(again=again)
        assert isinstance(came, SignedIn)
        await factors.begin(came.person, Proof(), HOME)

    assert await refusal_of(enrols(again=False)) == AGAIN
    await enrols(again=True)
    sign_on_world.issuer.changed = {"auth_time": int(clock.now().timestamp()) - 240}
    came = await sign_on_world.sign_in()
    assert isinstance(came, SignedIn)
    await factors.begin(came.person, Proof(), HOME)
    clock.passes(61)
    assert await refusal_of(factors.begin(came.person, Proof(), HOME)) == AGAIN


@pytest.mark.parametrize("said", [None, True, "now", -1, 301, -61])
async def test_a_requested_fresh_sign_in_requires_a_recent_auth_time(
    sign_on_world: SignOnWorld, said: object
):
    """By ``auth_time``: left out, no time, or so many seconds ago."""
    at = int(sign_on_world.identity.clock.now().timestamp())
    is_age = isinstance(said, int) and said not in {True, -1}
    sign_on_world.issuer.changed = {"auth_time": at - said if is_age else said}

    departure, back = await sign_on_world.leave(again=True)

    assert departure.url.endswith("&prompt=login&max_age=0")
    assert await refusal_of(sign_on_world.prove(back, departure.cookie)) == NOT_AGAIN
    assert (await sign_on_world.proof()).user.email == ANA


async def test_a_passkey_stands_for_the_code_of_a_sign_in_at_the_provider(
    sign_on_world: SignOnWorld,
):
    """Once, and with the code's sign-in alone: the passkey by itself is a local sign-in."""
    services, authenticator = sign_on_world.identity.services, Authenticator()
    user = await invited(sign_on_world, Role.OPERATOR, companies=())
    await register(services, (await sign_on_world.identity.sign_in(ANA)).person, authenticator)
    await changed(sign_on_world, user, companies=frozenset({COMPANY}))
    asked = await sign_on_world.sign_in()
    assert isinstance(asked, SecondFactorRequired)

    async def use(mfa_token: str) -> SignedIn:
        options = await services.sign_in.passkey_options(mfa_token, HOME.bound_to)
        return await services.sign_in.by_passkey(authenticator.assertion(options), HOME, mfa_token)

    assert await refusal_of(use("")) == LOCAL
    came = await use(asked.mfa_token)
    assert came.person.by_issuer
    assert (await refusal_of(use(asked.mfa_token)))[0] == "mfa_expired"


async def test_a_provider_that_is_down_says_so_and_is_left_alone_for_a_moment(
    sign_on_world: SignOnWorld,
):
    sign_on_world.issuer.is_down = True

    assert await refusal_of(sign_on_world.leave()) == DOWN
    assert await refusal_of(sign_on_world.leave()) == DOWN
    assert len(sign_on_world.issuer.asked) == 1
    sign_on_world.issuer.is_down = False
    sign_on_world.identity.clock.passes(11)
    assert (await sign_on_world.proof()).user.email == ANA
    assert sign_on_world.identity.counted[0] == (Event.SINGLE_SIGN_ON, SignOnOutcome.UNREACHABLE)


async def test_an_outage_in_the_middle_of_a_sign_in_says_so(sign_on_world: SignOnWorld):
    departure, back = await sign_on_world.leave()
    sign_on_world.issuer.is_down = True

    assert await refusal_of(sign_on_world.prove(back, departure.cookie)) == DOWN


async def test_a_key_that_is_new_is_read_at_once_and_strange_ones_once_a_minute(
    sign_on_world: SignOnWorld,
):
    await sign_on_world.proof()
    sign_on_world.identity.clock.passes(61)
    sign_on_world.issuer.rotate()
    await sign_on_world.proof()

    sign_on_world.issuer.publishes = sign_on_world.issuer.published()
    sign_on_world.issuer.rotate()
    asked = sign_on_world.issuer.asked.count("/keys")
    for _ in range(3):
        assert await refusal_of(sign_on_world.proof()) == REFUSED

    assert asked == 2
    assert sign_on_world.issuer.asked.count("/keys") == asked


async def test_the_way_to_the_provider_holds_what_the_standard_wants(sign_on_world: SignOnWorld):
    await sign_on_world.set(scopes=("groups", "email"))

    departure = await sign_on_world.sign_on.begin(ANA.upper(), "/panel")

    assert departure.url.startswith(f"{sign_on_world.issuer.origin}/authorize?response_type=code")
    assert "scope=openid+email+profile+groups&" in departure.url
    assert "code_challenge_method=S256" in departure.url
    assert "login_hint=ana%40loja.example.com" in departure.url
    assert "callback" in departure.url
    cookie = departure.cookie
    assert cookie.startswith("__Host-pixgate-company=")
    assert cookie.endswith("; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600")
    attempt = sign_on_world.sign_on.attempts.read(headers_of(cookie))
    assert attempt is not None
    assert attempt.verifier not in departure.url
    assert attempt.state not in cookie


@pytest.mark.parametrize("hint", ["", "nobody", "ana@other.example", "%", "a\0", f"mail.{DOMAIN}"])
async def test_a_company_is_found_by_its_names_alone(sign_on_world: SignOnWorld, hint: str):
    """Whether there is such a person makes no difference."""
    assert await refusal_of(sign_on_world.leave(hint)) == ("not_possible", "sign_on_unknown")
    assert await refusal_of(sign_on_world.leave(f"nobody@{DOMAIN}.br")) == (
        "not_possible",
        "sign_on_unknown",
    )
    await sign_on_world.leave(f"nobody@{DOMAIN}")


async def test_local_sign_in_is_for_break_glass_people_alone_and_is_mailed(
    sign_on_world: SignOnWorld,
):
    named = await invited(sign_on_world, Role.OPERATOR)
    other = await invited(sign_on_world, Role.VIEWER, email=f"bia@{DOMAIN}")
    security = await invited(sign_on_world, Role.SECURITY, companies=(), email="seg@pix.example")
    await sign_on_world.set(break_glass=(named.id,))
    identity = sign_on_world.identity

    refused = await refusal_of(identity.services.sign_in.login(other.email, PASSWORD, HOME))
    wrong = await refusal_of(identity.services.sign_in.login(other.email, "falsch", HOME))
    came = await identity.sign_in(named.email)

    assert refused == LOCAL
    assert wrong == ("password_wrong", "password")
    assert not came.person.by_issuer
    assert (Event.SINGLE_SIGN_ON, SignOnOutcome.BREAK_GLASS) in identity.counted
    assert ("authn_break_glass", named.id) in identity.security_events
    assert any("sem o provedor" in text for text in await identity.mails(security.email))
    assert isinstance(await identity.sign_in(security.email), SignedIn)


async def test_mails_name_the_company_and_not_an_id(sign_on_world: SignOnWorld):
    security = await invited(sign_on_world, Role.SECURITY, companies=(), email="seg@pix.example")
    user = (await sign_on_world.proof()).user
    await sign_on_world.set(short_name="nova")

    mails = await sign_on_world.identity.mails(security.email)

    assert any("por: loja (single" in each and user.id in each for each in mails)
    assert any("Empresa: nova\n" in each for each in mails)
    assert not any("identity_provider" in each for each in mails)


async def test_a_logout_token_ends_the_sessions_of_its_session_once(sign_on_world: SignOnWorld):
    came = await sign_on_world.sign_in()
    sign_on_world.issuer.person |= {"sid": "sid-2"}
    other = await sign_on_world.sign_in()
    assert isinstance(came, SignedIn)
    assert isinstance(other, SignedIn)
    token = sign_on_world.issuer.logout_token(sid="sid-1")

    await sign_on_world.sign_on.end(COMPANY, token)

    assert (await refusal_of(sign_on_world.identity.who(came)))[1] == "session_over"
    assert await sign_on_world.identity.who(other)
    replayed = await refusal_of(sign_on_world.sign_on.end(COMPANY, token))
    assert replayed == ("not_possible", "logout_token")


async def test_a_logout_token_of_a_person_ends_every_session_and_cannot_be_replayed(
    sign_on_world: SignOnWorld,
):
    came = await sign_on_world.sign_in()
    assert isinstance(came, SignedIn)
    token = sign_on_world.issuer.logout_token(sid=None)

    await sign_on_world.sign_on.end(COMPANY, token)
    later = await sign_on_world.sign_in()
    assert isinstance(later, SignedIn)
    replayed = await refusal_of(sign_on_world.sign_on.end(COMPANY, token))

    assert (await refusal_of(sign_on_world.identity.who(came)))[1] == "session_over"
    assert replayed == ("not_possible", "logout_token")
    assert await sign_on_world.identity.who(later)


async def test_a_logout_that_was_cut_off_is_repeated_to_its_end(
    sign_on_world: SignOnWorld, monkeypatch: pytest.MonkeyPatch
):
    came = [await sign_on_world.sign_in() for _ in range(2)]
    token = sign_on_world.issuer.logout_token(sid="sid-1")
    ends, ended = StoredSessions.end, []

    async def cut_off(self: StoredSessions, *given: Any) -> bool:
        ended.append(given)
        if len(ended) == 2:
            raise StoreUnavailable
        return await ends(self, *given)

    monkeypatch.setattr(StoredSessions, "end", cut_off)
    with pytest.raises(StoreUnavailable):
        await sign_on_world.sign_on.end(COMPANY, token)
    await sign_on_world.sign_on.end(COMPANY, token)

    for each in came:
        assert isinstance(each, SignedIn)
        assert (await refusal_of(sign_on_world.identity.who(each)))[1] == "session_over"


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://sso.other.example"},
        {"aud": "another-client"},
        {"iat": 1},
        {"exp": 1},
        {"exp": None},
        {"events": None},
        {"events": {"urn:other": {}}},
        {"sid": None, "sub": None},
        {"nonce": "any"},
        {"jti": None},
    ],
)
async def test_a_logout_token_that_is_not_in_order_ends_nothing(
    sign_on_world: SignOnWorld, changed: dict[str, Any]
):
    came = await sign_on_world.sign_in()
    assert isinstance(came, SignedIn)
    token = sign_on_world.issuer.logout_token(**changed)

    refused = await refusal_of(sign_on_world.sign_on.end(COMPANY, token))

    assert refused == ("not_possible", "logout_token")
    assert await sign_on_world.identity.who(came)


async def test_a_logout_token_ends_nothing_of_another_company(sign_on_world: SignOnWorld):
    came = await sign_on_world.sign_in()
    assert isinstance(came, SignedIn)

    refused = await refusal_of(
        sign_on_world.sign_on.end(OTHER, sign_on_world.issuer.logout_token())
    )

    assert refused == ("not_possible", "logout_token")
    assert await sign_on_world.identity.who(came)


@pytest.mark.parametrize("sid", [None, "sid-1"])
async def test_a_logout_ends_a_sign_in_that_waits_for_its_code(
    sign_on_world: SignOnWorld, sid: str | None
):
    """Also where its token names the session at the provider, of which there is none here yet."""
    user = await invited(sign_on_world, Role.OPERATOR, companies=())
    await sign_on_world.identity.enrol(ANA)
    await changed(sign_on_world, user, companies=frozenset({COMPANY}))
    asked = await sign_on_world.sign_in()
    assert isinstance(asked, SecondFactorRequired)
    await sign_on_world.sign_on.end(COMPANY, sign_on_world.issuer.logout_token(sid=sid))

    code = sign_on_world.identity.code(ANA)
    late = sign_on_world.identity.services.sign_in.submit_code(asked.mfa_token, code, HOME)

    assert (await refusal_of(late))[0] == "mfa_expired"


async def test_a_narrower_mapping_ends_the_sessions_of_the_company_s_people(
    sign_on_world: SignOnWorld,
):
    came = await sign_on_world.sign_in()
    assert isinstance(came, SignedIn)
    sign_on_world.identity.clock.passes(1)

    await sign_on_world.set(mapping=(RoleValue("pix-operators", Role.VIEWER),))

    assert (await refusal_of(sign_on_world.identity.who(came)))[0] == "token_invalid"
    assert (await sign_on_world.proof()).user.roles == {Role.VIEWER}
