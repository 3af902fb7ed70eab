"""Mail about new users: to whom, what it says, and what it never says."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from gateway.core.approvals import Approval
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from gateway.core.storage import StoreUnavailable
from gateway.identity.mail import Mailer
from gateway.identity.model import Mail
from gateway.identity.user_notices import UserNotices
from tests.unit.gateway.identity.access_world import AccessWorld, stranger
from tests.world.people import CLI


async def news(world: AccessWorld) -> list[Mail]:
    """Return the mail about new users."""
    outbox = world.identity_world.context.stores.outbox
    found = await outbox.latest(50, EVERY_COMPANY)
    return [each for each in found if each.subject == "[pixgate] Novo usuário"]


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


async def test_a_failed_notice_keeps_the_invitation(access_world: AccessWorld):
    class Silent:
        async def list(self) -> list[object]:
            raise StoreUnavailable

    context = access_world.identity_world.context
    stores = replace(context.stores, users=Silent())  # type: ignore[arg-type]
    made = await access_world.made(Role.VIEWER)

    await UserNotices(Mailer(replace(context, stores=stores))).tell(made, "user:a@example.com")

    assert await news(access_world) == []
