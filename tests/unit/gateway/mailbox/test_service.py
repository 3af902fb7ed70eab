"""The list of the sandbox's mail."""

from __future__ import annotations

from dataclasses import replace

from gateway.identity.model import Mail
from gateway.mailbox.service import Mailbox
from tests.unit.gateway.http.registers import AdminWorld
from tests.world.standing import NOON
from tests.world.stores.people import user
from tests.world.stores.samples import event


async def test_a_limited_user_sees_mail_to_users_of_their_companies_alone(admin_world: AdminWorld):
    """Users with the same or a smaller set of companies, not with a larger one."""
    store, ours = admin_world.office.store.identity, admin_world.ours.id
    limits = {"one": {ours}, "two": {ours, admin_world.theirs.id}, "all": set()}
    for name, companies in limits.items():
        person = user(name, f"{name}@example.com")
        await store.users.add(replace(person, companies=frozenset(companies)), event())
        mail = Mail(id=name, to=person.email, subject="s", text="t", created_at=NOON)
        await store.mailbox.put(mail)

    async def shown(*companies: str) -> set[str]:
        found = await Mailbox(store.mailbox).latest(admin_world.staff(*companies).staff)
        return {each.to.partition("@")[0] for each in found}

    assert await shown() == {"one", "two", "all"}
    assert await shown(ours) == {"one"}
    assert await shown(ours, admin_world.theirs.id) == {"one", "two"}
    assert await shown(admin_world.theirs.id) == set()
