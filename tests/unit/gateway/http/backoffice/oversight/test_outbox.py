"""The row of the sandbox's mail."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from gateway.app.rooms import described_surfaces
from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Environment
from gateway.domain.identity.challenges import Mail
from tests.unit.gateway.http.backoffice.registers import AdminWorld
from tests.unit.gateway.http.backoffice.surface import line
from tests.world.standing import NOON
from tests.world.stores.people import user
from tests.world.stores.samples import event


def test_the_row_is_the_one_decided():
    assert line("outbox") == ("GET", "/outbox", "outbox:read", 200)


def test_production_has_no_such_row():
    """Links in mails open accounts; only who gets the mail reads them."""
    settings = msgspec.structs.replace(Settings(), environment=Environment.PRODUCTION)

    names = {
        row.name
        for surface in described_surfaces(settings)
        for gate in surface.gates
        for row in gate.rows
    }

    assert "backoffice.outbox" not in names
    assert "backoffice.audit" in names


async def test_who_is_limited_is_shown_the_mail_of_their_own_people(admin_world: AdminWorld):
    """Of those who see the same companies, or one of these; not of who sees more."""
    store, ours = admin_world.office.store.identity, admin_world.ours.id
    limits = {"one": {ours}, "two": {ours, admin_world.theirs.id}, "all": set()}
    for name, companies in limits.items():
        person = user(name, f"{name}@example.com")
        await store.users.add(replace(person, companies=frozenset(companies)), event())
        mail = Mail(id=name, to=person.email, subject="s", text="t", created_at=NOON)
        await store.outbox.put(mail)

    async def shown(*companies: str) -> set[str]:
        return {
            each.id
            for each in await admin_world.oversight.latest_mail(
                admin_world.staff(*companies).scope, None
            )
        }

    assert await shown() == {"one", "two", "all"}
    assert await shown(ours) == {"one"}
    assert await shown(ours, admin_world.theirs.id) == {"one", "two"}
    assert await shown(admin_world.theirs.id) == set()
