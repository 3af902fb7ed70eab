"""The register of users, and invitations."""

import pytest

from gateway.domain.identity.rights import Role
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.strict import Malformed
from gateway.operations.identity.tokens import SignedIn
from gateway.operations.identity.users import NewUser, read_email
from gateway.operations.kernel.audit_context import RuleViolation
from tests.unit.door import EMAIL, HOME, PASSWORD, refusal
from tests.unit.people import COMPANY

VIEWER = frozenset({Role.VIEWER})


def order(email: str = "ana@example.com", **changed: object) -> NewUser:
    return NewUser(**{"email": email, "name": "Ana", "roles": VIEWER, **changed})


async def test_a_person_is_made_and_found_by_id_and_by_address(door):
    made = await door.services.users.create("cli", order(" Ana@Example.com", companies={COMPANY}))

    assert await door.services.users.find(made.id.upper()) == made
    assert await door.services.users.find("ANA@example.com") == made
    assert (made.email, made.companies, made.active) == ("ana@example.com", {COMPANY}, True)
    assert await door.services.users.list() == [made]


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
async def test_a_wrong_order_makes_nobody(door, maria, changed: dict, message: str):
    with pytest.raises(RuleViolation, match=message):
        await door.services.users.create("cli", order(**changed))

    assert await door.services.users.list() == [maria]


async def test_a_weak_password_makes_nobody(door):
    with pytest.raises(RuleViolation, match="everybody tries"):
        await door.services.users.create("cli", order(), "password1234")

    assert await door.services.users.list() == []


ENDING = [
    ("disable", ()),
    ("enable", ()),
    ("set_roles", (VIEWER,)),
    ("set_companies", ((COMPANY,),)),
    ("reset_mfa", ()),
]


@pytest.mark.parametrize(("act", "more"), ENDING)
async def test_what_changes_a_person_ends_their_sessions(door, maria, act: str, more: tuple):
    came = await door.comes_in()
    door.clock.passes(1)

    await getattr(door.services.users, act)("cli", maria.id, *more)

    with pytest.raises(ServiceError) as refused:
        await door.who(came)
    assert refusal(refused.value)[0] == "token_invalid"
    assert await door.services.sessions.list(came.person) == []


@pytest.mark.parametrize(("act", "more"), ENDING)
async def test_nobody_does_it_to_themselves(door, maria, act: str, more: tuple):
    """Nor gives themselves a role: two administrators are needed for that."""
    with pytest.raises(RuleViolation, match="themselves"):
        await getattr(door.services.users, act)(f"user:{EMAIL}", maria.id, *more)

    assert await door.services.users.find(maria.id) == maria


async def test_roles_and_companies_are_replaced_not_added(door, maria):
    await door.services.users.set_roles("cli", maria.id, [Role.OPERATOR])
    changed = await door.services.users.set_companies("cli", maria.id, [COMPANY.upper()])

    assert (changed.roles, changed.companies) == ({Role.OPERATOR}, {COMPANY})
    assert (await door.services.users.set_companies("cli", maria.id, ())).companies == frozenset()


async def test_a_disabled_person_comes_in_again_when_enabled(door, maria):
    await door.services.users.disable("cli", maria.id, "férias")
    with pytest.raises(ServiceError):
        await door.comes_in()

    await door.services.users.enable("cli", maria.id)

    assert await door.comes_in()


async def test_a_lost_factor_is_taken_away_with_its_codes(door, maria):
    await door.enrols()

    changed = await door.services.users.reset_mfa("cli", maria.id)

    assert (changed.totp, changed.factor_reset) == (None, True)
    assert await door.store.identity.users.codes(maria.id) == []
    assert "removeu" in (await door.mails())[0]


async def test_sessions_of_others_are_ended(door, maria):
    came = [await door.comes_in() for _ in range(2)]

    assert await door.services.users.end_sessions("cli", EMAIL) == 2

    for each in came:
        with pytest.raises(ServiceError):
            await door.who(each)


@pytest.mark.parametrize("who", ["nobody@example.com", "00000000-0000-4000-8000-000000000000", "x"])
async def test_nobody_is_found_who_is_not_there(door, who: str):
    with pytest.raises(RuleViolation):
        await door.services.users.find(who)


async def test_every_act_is_audited(door, maria):
    await door.services.users.disable("cli", maria.id, "férias")
    await door.services.users.enable("cli", maria.id)

    async with door.store.database.reading() as connection:
        raw = await connection.get_raw_connection()
        dump = "\n".join([line async for line in raw.driver_connection.iterdump()])

    assert all(word in dump for word in ("user.created", "user.disabled", "user.enabled", "férias"))
    assert PASSWORD not in dump


ANA = "ana@example.com"
ORDER = NewUser(email=ANA, name="Ana", roles=frozenset({Role.VIEWER}))


async def test_who_is_invited_chooses_the_password(door):
    await door.services.invitations.invite("cli", ORDER)

    await door.services.invitations.accept(await door.link(ANA), PASSWORD, HOME)

    assert isinstance(await door.services.sign_in.login(ANA, PASSWORD, HOME), SignedIn)


async def test_before_that_nobody_signs_in(door):
    await door.services.invitations.invite("cli", ORDER)

    for password in ("", PASSWORD):
        with pytest.raises(ServiceError):
            await door.services.sign_in.login(ANA, password, HOME)


async def test_an_invitation_is_good_for_three_days_once(door):
    await door.services.invitations.invite("cli", ORDER)
    door.clock.passes(3 * 86_400)

    with pytest.raises(ServiceError) as refused:
        await door.services.invitations.accept(await door.link(ANA), PASSWORD, HOME)

    assert refusal(refused.value) == ("not_possible", "link_over")
    await door.services.invitations.invite_again("cli", ANA)
    link = await door.link(ANA)
    await door.services.invitations.accept(link, PASSWORD, HOME)
    with pytest.raises(ServiceError):
        await door.services.invitations.accept(link, PASSWORD, HOME)


async def test_who_has_a_password_is_not_invited_again(door, maria):
    with pytest.raises(RuleViolation, match="accepted"):
        await door.services.invitations.invite_again("cli", maria.id)


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
