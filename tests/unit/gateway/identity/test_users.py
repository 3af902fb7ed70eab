"""The register of users, and invitations."""

import pytest

from gateway.core.audit_context import RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.strict import Malformed
from gateway.identity.token_refresh import SignedIn
from gateway.identity.users import NewUser, read_email
from tests.world.identity import EMAIL, HOME, PASSWORD, refusal
from tests.world.people import COMPANY

VIEWER = frozenset({Role.VIEWER})


def order(email: str = "ana@example.com", **changed: object) -> NewUser:
    return NewUser(**{"email": email, "name": "Ana", "roles": VIEWER, **changed})


async def test_a_person_is_made_and_found_by_id_and_by_address(identity_world):
    made = await identity_world.services.users.create(
        "cli", order(" Ana@Example.com", companies={COMPANY})
    )

    assert await identity_world.services.users.find(made.id.upper()) == made
    assert await identity_world.services.users.find("ANA@example.com") == made
    assert (made.email, made.companies, made.active) == ("ana@example.com", {COMPANY}, True)
    assert await identity_world.services.users.list() == [made]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"email": "ana"}, "no"),
        ({"email": EMAIL}, "already"),
        ({"name": " "}, "empty"),
        ({"roles": frozenset()}, "role"),
        ({"companies": frozenset({"00000000-0000-4000-8000-000000000000"})}, "no company"),
    ],
)
async def test_a_wrong_order_makes_nobody(identity_world, maria, changed: dict, message: str):
    with pytest.raises(RuleViolation, match=message):
        await identity_world.services.users.create("cli", order(**changed))

    assert await identity_world.services.users.list() == [maria]


async def test_a_weak_password_makes_nobody(identity_world):
    with pytest.raises(RuleViolation, match="everybody tries"):
        await identity_world.services.users.create("cli", order(), "password1234")

    assert await identity_world.services.users.list() == []


ENDING = [
    ("disable", ()),
    ("enable", ()),
    ("set_roles", (VIEWER,)),
    ("set_companies", ((COMPANY,),)),
    ("reset_mfa", ()),
]


@pytest.mark.parametrize(("act", "more"), ENDING)
async def test_what_changes_a_person_ends_their_sessions(
    identity_world, maria, act: str, more: tuple
):
    came = await identity_world.sign_in()
    identity_world.clock.passes(1)

    await getattr(identity_world.services.users, act)("cli", maria.id, *more)

    with pytest.raises(ServiceError) as refused:
        await identity_world.who(came)
    assert refusal(refused.value)[0] == "token_invalid"
    assert await identity_world.services.sessions.list(came.person) == []


@pytest.mark.parametrize(("act", "more"), ENDING)
async def test_nobody_does_it_to_themselves(identity_world, maria, act: str, more: tuple):
    """Nor gives themselves a role: two administrators are needed for that."""
    with pytest.raises(RuleViolation, match="themselves"):
        await getattr(identity_world.services.users, act)(f"user:{EMAIL}", maria.id, *more)

    assert await identity_world.services.users.find(maria.id) == maria


async def test_roles_and_companies_are_replaced_not_added(identity_world, maria):
    await identity_world.services.users.set_roles("cli", maria.id, [Role.OPERATOR])
    changed = await identity_world.services.users.set_companies("cli", maria.id, [COMPANY.upper()])

    assert (changed.roles, changed.companies) == ({Role.OPERATOR}, {COMPANY})
    assert (
        await identity_world.services.users.set_companies("cli", maria.id, ())
    ).companies == frozenset()


async def test_a_disabled_person_comes_in_again_when_enabled(identity_world, maria):
    await identity_world.services.users.disable("cli", maria.id, "férias")
    with pytest.raises(ServiceError):
        await identity_world.sign_in()

    await identity_world.services.users.enable("cli", maria.id)

    assert await identity_world.sign_in()


async def test_a_lost_factor_is_taken_away_with_its_codes(identity_world, maria):
    await identity_world.enrol()

    changed = await identity_world.services.users.reset_mfa("cli", maria.id)

    assert (changed.totp, changed.factor_reset) == (None, True)
    assert await identity_world.store.identity.users.codes(maria.id) == []
    assert "removeu" in (await identity_world.mails())[0]


async def test_sessions_of_others_are_ended(identity_world, maria):
    came = [await identity_world.sign_in() for _ in range(2)]

    assert await identity_world.services.users.end_sessions("cli", EMAIL) == 2

    for each in came:
        with pytest.raises(ServiceError):
            await identity_world.who(each)


@pytest.mark.parametrize("who", ["nobody@example.com", "00000000-0000-4000-8000-000000000000", "x"])
async def test_nobody_is_found_who_is_not_there(identity_world, who: str):
    with pytest.raises(RuleViolation):
        await identity_world.services.users.find(who)


async def test_every_act_is_audited(identity_world, maria):
    await identity_world.services.users.disable("cli", maria.id, "férias")
    await identity_world.services.users.enable("cli", maria.id)

    async with identity_world.store.database.reading() as connection:
        raw = await connection.get_raw_connection()
        dump = "\n".join([line async for line in raw.driver_connection.iterdump()])

    assert all(word in dump for word in ("user.created", "user.disabled", "user.enabled", "férias"))
    assert PASSWORD not in dump


ANA = "ana@example.com"
ORDER = NewUser(email=ANA, name="Ana", roles=frozenset({Role.VIEWER}))


async def test_who_is_invited_chooses_the_password(identity_world):
    await identity_world.services.invitations.invite("cli", ORDER)

    await identity_world.services.invitations.accept(await identity_world.link(ANA), PASSWORD, HOME)

    assert isinstance(await identity_world.services.sign_in.login(ANA, PASSWORD, HOME), SignedIn)


async def test_before_that_nobody_signs_in(identity_world):
    await identity_world.services.invitations.invite("cli", ORDER)

    for password in ("", PASSWORD):
        with pytest.raises(ServiceError):
            await identity_world.services.sign_in.login(ANA, password, HOME)


async def test_an_invitation_is_good_for_three_days_once(identity_world):
    await identity_world.services.invitations.invite("cli", ORDER)
    identity_world.clock.passes(3 * 86_400)

    with pytest.raises(ServiceError) as refused:
        await identity_world.services.invitations.accept(
            await identity_world.link(ANA), PASSWORD, HOME
        )

    assert refusal(refused.value) == ("not_possible", "link_over")
    await identity_world.services.invitations.invite_again("cli", ANA)
    link = await identity_world.link(ANA)
    await identity_world.services.invitations.accept(link, PASSWORD, HOME)
    with pytest.raises(ServiceError):
        await identity_world.services.invitations.accept(link, PASSWORD, HOME)


async def test_who_has_a_password_is_not_invited_again(identity_world, maria):
    with pytest.raises(RuleViolation, match="accepted"):
        await identity_world.services.invitations.invite_again("cli", maria.id)


@pytest.mark.parametrize(
    "text", ["maria@example.com", " Maria@Example.COM ", "m+a.r@sub.example.com.br"]
)
def test_an_address_is_known_in_lower_case(text: str):
    assert read_email(text) == text.strip().lower()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "maria",
        "@example.com",
        "maria@",
        "maria@example",
        "a@b@example.com",
        "maria@exa mple.com",
        "maria@-example.com",
        "mária@example.com",
        "maria@example.com\nx",
        f"{'a' * 65}@example.com",
        f"a@{'b.' * 126}com",
    ],
)
def test_what_is_no_address_is_refused(text: str):
    """Among them two at-signs: an address is matched whole, or not at all."""
    with pytest.raises(Malformed):
        read_email(text)
