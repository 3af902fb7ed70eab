"""The register of users, and invitations."""

import pytest

from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.schemas import ReasonBody
from gateway.identity.model import CompaniesBody, EndedDocument, InvitationBody, RolesBody
from gateway.identity.sessions import SignedIn
from tests.world.identity import EMAIL, HOME, PASSWORD, refusal, refusal_of
from tests.world.people import CLI, COMPANY

VIEWER = [Role.VIEWER]


def order(email: str = "ana@example.com", **changed: object) -> InvitationBody:
    return InvitationBody(**{"email": email, "name": "Ana", "roles": VIEWER, **changed})


async def test_a_user_is_created_and_found_by_id_and_address(identity_world):
    made = await identity_world.services.users.create(
        CLI, order(" Ana@Example.com", companies=[COMPANY])
    )

    assert await identity_world.services.users.find(made.id.upper()) == made
    assert await identity_world.services.users.find("ANA@example.com") == made
    assert (made.email, made.companies, made.active) == ("ana@example.com", {COMPANY}, True)
    assert await identity_world.context.stores.users.list() == [made]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"email": "ana"}, "no"),
        ({"email": EMAIL}, "already"),
        ({"name": " "}, "empty"),
        ({"roles": []}, "role"),
        ({"companies": ["00000000-0000-4000-8000-000000000000"]}, "no company"),
    ],
)
async def test_an_invalid_order_creates_no_user(identity_world, maria, changed: dict, message: str):
    with pytest.raises(RuleViolation, match=message):
        await identity_world.services.users.create(CLI, order(**changed))

    assert await identity_world.context.stores.users.list() == [maria]


ENDING = [
    ("disable", (ReasonBody(),)),
    ("enable", ()),
    ("set_roles", (RolesBody(VIEWER),)),
    ("set_companies", (CompaniesBody([COMPANY]),)),
    ("reset_mfa", ()),
]


@pytest.mark.parametrize(("act", "more"), ENDING)
async def test_changes_of_a_user_end_their_sessions(identity_world, maria, act: str, more: tuple):
    came = await identity_world.sign_in()
    identity_world.clock.passes(1)

    await getattr(identity_world.services.users, act)(CLI, maria.id, *more)

    with pytest.raises(ServiceError) as refused:
        await identity_world.who(came)
    assert refusal(refused.value)[0] == "token_invalid"
    assert await identity_world.services.sessions.list(came.person) == []


@pytest.mark.parametrize(("act", "more"), ENDING)
async def test_no_administrator_changes_their_own_account(
    identity_world, maria, act: str, more: tuple
):
    """Roles included: two administrators are needed for that."""
    who = Staff(AuditContext(f"user:{EMAIL}", identity_world.clock.now))

    with pytest.raises(RuleViolation, match="themselves"):
        await getattr(identity_world.services.users, act)(who, maria.id, *more)

    assert await identity_world.services.users.find(maria.id) == maria


async def test_setting_roles_or_companies_replaces_them(identity_world, maria):
    await identity_world.services.users.set_roles(CLI, maria.id, RolesBody([Role.OPERATOR]))
    changed = await identity_world.services.users.set_companies(
        CLI, maria.id, CompaniesBody([COMPANY.upper()])
    )

    assert (changed.roles, changed.companies) == ([Role.OPERATOR], [COMPANY])
    assert (
        await identity_world.services.users.set_companies(CLI, maria.id, CompaniesBody([]))
    ).companies == []


async def test_an_enabled_user_can_sign_in_again(identity_world, maria):
    await identity_world.services.users.disable(CLI, maria.id, ReasonBody("férias"))
    with pytest.raises(ServiceError):
        await identity_world.sign_in()

    await identity_world.services.users.enable(CLI, maria.id)

    assert await identity_world.sign_in()


async def test_resetting_a_factor_deletes_it_with_its_codes(identity_world, maria):
    await identity_world.enrol()

    changed = await identity_world.services.users.reset_mfa(CLI, maria.id)

    assert not changed.has_factor
    assert (await identity_world.services.users.find(maria.id)).factor_reset
    assert await identity_world.store.identity.users.codes(maria.id) == []
    assert "removeu" in (await identity_world.mails())[0]


async def test_a_user_s_sessions_can_be_ended_by_an_operator(identity_world, maria):
    came = [await identity_world.sign_in() for _ in range(2)]

    assert await identity_world.services.users.end_sessions(CLI, EMAIL) == EndedDocument(2)

    for each in came:
        with pytest.raises(ServiceError):
            await identity_world.who(each)


@pytest.mark.parametrize("who", ["nobody@example.com", "00000000-0000-4000-8000-000000000000", "x"])
async def test_an_unknown_user_is_not_found(identity_world, who: str):
    with pytest.raises(RuleViolation):
        await identity_world.services.users.find(who)


async def test_every_act_is_audited(identity_world, maria):
    await identity_world.services.users.disable(CLI, maria.id, ReasonBody("férias"))
    await identity_world.services.users.enable(CLI, maria.id)

    async with identity_world.store.database.reading() as connection:
        raw = await connection.get_raw_connection()
        dump = "\n".join([line async for line in raw.driver_connection.iterdump()])

    assert all(word in dump for word in ("user.created", "user.disabled", "user.enabled", "férias"))
    assert PASSWORD not in dump


ANA = "ana@example.com"
ORDER = InvitationBody(email=ANA, name="Ana", roles=[Role.VIEWER])


async def test_an_invited_user_chooses_the_password(identity_world):
    await identity_world.services.users.invite(CLI, ORDER)

    await identity_world.services.passwords.accept_invitation(
        await identity_world.link(ANA), PASSWORD, HOME
    )

    assert isinstance(await identity_world.services.sign_in.login(ANA, PASSWORD, HOME), SignedIn)


async def test_an_invited_user_cannot_sign_in_yet(identity_world):
    await identity_world.services.users.invite(CLI, ORDER)

    for password in ("", PASSWORD):
        with pytest.raises(ServiceError):
            await identity_world.services.sign_in.login(ANA, password, HOME)


async def test_an_invitation_is_valid_once_within_three_days(identity_world):
    await identity_world.services.users.invite(CLI, ORDER)
    identity_world.clock.passes(3 * 86_400)

    assert await refusal_of(
        identity_world.services.passwords.accept_invitation(
            await identity_world.link(ANA), PASSWORD, HOME
        )
    ) == ("not_possible", "link_over")
    await identity_world.services.users.invite_again(CLI, ANA)
    link = await identity_world.link(ANA)
    await identity_world.services.passwords.accept_invitation(link, PASSWORD, HOME)
    with pytest.raises(ServiceError):
        await identity_world.services.passwords.accept_invitation(link, PASSWORD, HOME)


async def test_a_user_with_a_password_cannot_be_invited_again(identity_world, maria):
    with pytest.raises(RuleViolation, match="accepted"):
        await identity_world.services.users.invite_again(CLI, maria.id)
