"""Mail about users who are new or may do more: to whom, what it says, and what it never says."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from gateway.core.approvals import Approval
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from gateway.core.schemas import ReasonBody
from gateway.core.storage import StoreUnavailable
from gateway.identity.mail import Mailer
from gateway.identity.model import CompaniesBody, Mail, NameBody, RolesBody
from gateway.identity.user_notices import UserNotices
from tests.unit.gateway.identity.access_world import AccessWorld, stranger
from tests.world.people import CLI

NEW, MORE = "[pixgate] Novo usuário", "[pixgate] Um usuário pode mais do que antes"


async def news(world: AccessWorld, subject: str = NEW) -> list[Mail]:
    """Return the mail about new users, or about those who may do more."""
    mailbox = world.identity_world.context.stores.mailbox
    found = await mailbox.latest(50, EVERY_COMPANY)
    return [each for each in found if each.subject == subject]


async def staff_of(world: AccessWorld, email: str, role: Role, company: str) -> str:
    """Make one more user of a company."""
    wanted = stranger(role, companies=[company])
    wanted = msgspec.structs.replace(wanted, email=email, name="Bia")
    return (await world.identity_world.services.users.create(CLI, wanted)).email


async def test_security_and_admins_of_the_user_s_companies_are_notified(
    access_world: AccessWorld,
):
    """Otherwise a stolen administrator session could create a reader unnoticed."""
    company = access_world.company
    other = (await access_world.office.company("Outra")).id
    told = {
        access_world.maria.email,
        await staff_of(access_world, "security@example.com", Role.SECURITY, company),
    }
    await staff_of(access_world, "operator@example.com", Role.OPERATOR, company)
    await staff_of(access_world, "elsewhere@example.com", Role.ADMIN, other)

    await access_world.register.invite(
        access_world.admin, stranger(Role.VIEWER, companies=[company])
    )

    sent = await news(access_world)
    assert {each.to for each in sent} == told
    made = await access_world.identity_world.services.users.find("new@example.com")
    for each in sent:
        assert f"Convidado por: {access_world.maria.actor}" in each.text
        assert "Papéis: viewer" in each.text
        assert f"/panel/people/{made.id}" in each.text
        assert made.email not in each.text
        assert made.name not in each.text


async def test_a_user_who_needs_approval_is_announced_after_it(access_world: AccessWorld):
    waiting = await access_world.register.invite(access_world.admin, stranger(Role.OPERATOR))
    assert isinstance(waiting, Approval)
    assert await news(access_world) == []

    await access_world.agreed(waiting)

    assert {each.to for each in await news(access_world)} == {access_world.maria.email}


async def test_a_user_who_is_created_with_a_password_is_announced(access_world: AccessWorld):
    """As by a command: no link goes out, and no second person knows."""
    made = await access_world.identity_world.services.users.create_announced(
        CLI, stranger(Role.APPROVER), "uma frase bem comprida"
    )

    [told] = await news(access_world)
    assert told.to == access_world.maria.email
    assert f"Convidado por: {CLI.acting.actor}" in told.text
    assert f"/panel/people/{made.id}" in told.text


async def test_wider_rights_are_mailed_to_security_and_narrower_rights_are_not(
    access_world: AccessWorld,
):
    """One mail for each of: a role, a company, no limit, enabling."""
    users, counted = access_world.identity_world.services.users, []
    other = (await access_world.office.company("Outra")).id
    user = await access_world.made(Role.VIEWER, companies=[access_world.company])
    one, both = [access_world.company], [access_world.company, other]

    for act in (
        users.set_roles(CLI, user.id, RolesBody([Role.OPERATOR])),
        users.set_companies(CLI, user.id, CompaniesBody(both)),
        users.set_companies(CLI, user.id, CompaniesBody([])),
        users.set_companies(CLI, user.id, CompaniesBody(one)),
        users.rename(CLI, user.id, NameBody("Ana")),
        users.disable(CLI, user.id, ReasonBody()),
        users.enable(CLI, user.id),
        users.reset_mfa(CLI, user.id),
    ):
        await act
        counted.append(len(await news(access_world, MORE)))

    assert counted == [1, 2, 3, 3, 3, 3, 4, 4]
    last = (await news(access_world, MORE))[0]
    assert (last.to, "Papéis: operator" in last.text) == (access_world.maria.email, True)
    assert f"Pedido por: {CLI.acting.actor}" in last.text


async def test_roles_that_need_approval_are_mailed_after_it(access_world: AccessWorld):
    user = await access_world.made(Role.VIEWER)
    wanted = RolesBody([Role.VIEWER, Role.APPROVER])
    waiting = await access_world.register.set_roles(access_world.admin, user.id, wanted)
    assert isinstance(waiting, Approval)
    assert await news(access_world, MORE) == []

    await access_world.agreed(waiting)

    [told] = await news(access_world, MORE)
    assert f"Pedido por: {access_world.maria.actor}" in told.text


async def test_a_failed_notice_keeps_the_invitation(access_world: AccessWorld):
    class Silent:
        async def list(self) -> list[object]:
            raise StoreUnavailable

    context = access_world.identity_world.context
    stores = replace(context.stores, users=Silent())  # type: ignore[arg-type]
    made = await access_world.made(Role.VIEWER)

    notices = UserNotices(Mailer(replace(context, stores=stores)))
    await notices.tell_of_new(made, "user:a@example.com")

    assert await news(access_world) == []
