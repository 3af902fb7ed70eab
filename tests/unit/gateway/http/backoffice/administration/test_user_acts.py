"""What people do with people."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.domain.identity.rights import Role
from gateway.domain.kernel.company_scope import scope_of
from gateway.http.backoffice.administration.user_acts import (
    CompaniesBody,
    InvitationBody,
    RolesBody,
    Standing,
    UserActs,
    standings,
)
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.cells import ReasonBody
from gateway.http.identity.represent import public_id
from gateway.operations.backoffice.access_orders import FourEyes, PeopleOrders
from gateway.operations.identity.sessions import UserSessions
from gateway.operations.identity.throttling import Lockout
from gateway.operations.kernel.audit_context import AuditContext
from tests.unit.gateway.http.backoffice.registers import (
    FIRST,
    AdminWorld,
    admin_world_of,
    person,
    turned_down,
)
from tests.world import registers
from tests.world.identity import IdentityWorld, identity_world_on
from tests.world.standing import Clock
from tests.world.stores.people import user
from tests.world.stores.samples import NOW


@dataclass(slots=True)
class People:
    admin_world: AdminWorld
    identity_world: IdentityWorld
    acts: UserActs

    def staff(self, *companies: str) -> BackOfficeCaller:
        return BackOfficeCaller(
            person(*companies),
            AuditContext("user:ana@example.com", self.identity_world.clock.now),
            scope_of(frozenset(companies)),
        )


def alone(identity_world: IdentityWorld, admin_world: AdminWorld) -> UserActs:
    """What people do where nobody else has to agree."""
    nobody: Any = None
    orders = PeopleOrders(
        services=identity_world.services, wait=nobody, rules=FourEyes(people=False)
    )
    return UserActs(
        identity_world.services, UserSessions(identity_world.context), admin_world.registers, orders
    )


@pytest.fixture
async def people(tmp_path: Path) -> AsyncIterator[People]:
    """The register of people over a store with two companies."""
    async with registers.opened(tmp_path) as office:
        identity_world = identity_world_on(office.store, Clock())
        await identity_world.services.signing_keys.ensure()
        admin_world = await admin_world_of(office)
        yield People(admin_world, identity_world, alone(identity_world, admin_world))
        identity_world.hasher.close()


def invitation(*companies: str, email: str = "new@example.com") -> InvitationBody:
    return InvitationBody(roles=[Role.VIEWER], email=email, name="New", companies=list(companies))


async def test_somebody_is_invited_by_mail(people: People):
    made = await people.acts.invite(people.staff(), invitation())

    assert made.password == ""
    assert await people.identity_world.link(made.email)
    assert (await people.admin_world.acts())[-1] == ("user:ana@example.com", "user.created")


async def test_who_is_limited_sees_and_invites_within_their_limit(people: People):
    ours, theirs = people.admin_world.ours.id, people.admin_world.theirs.id
    limited, acts = people.staff(ours), people.acts
    everybody = await acts.invite(people.staff(), invitation(email="all@example.com"))
    foreign = await acts.invite(people.staff(), invitation(theirs, email="t@example.com"))

    mine = await acts.invite(limited, invitation(ours.upper()))

    assert [each.user for each in (await acts.list(limited, FIRST)).items] == [mine]
    for hidden in (everybody, foreign):
        assert await turned_down(acts.read(limited, hidden.id)) == "404 NOT_FOUND"
        assert (
            await turned_down(acts.disable(limited, (hidden.id, ReasonBody()))) == "404 NOT_FOUND"
        )
    for beyond in ((), (theirs,), (ours, theirs)):
        order = invitation(*beyond, email="x@example.com")
        assert await turned_down(acts.invite(limited, order)) == "400 VALIDATION_FAILED"
        body = (mine.id, CompaniesBody(companies=list(beyond)))
        assert await turned_down(acts.set_companies(limited, body)) == "400 VALIDATION_FAILED"


async def test_a_company_is_named_by_its_id(people: People):
    wrong = invitation("our company")

    assert await turned_down(people.acts.invite(people.staff(), wrong)) == "400 VALIDATION_FAILED"


async def test_changes_end_sign_ins(people: People):
    maria = await people.identity_world.person()
    who, acts = people.staff(), people.acts

    for change in (
        lambda: acts.set_roles(who, (maria.id, RolesBody(roles=[Role.VIEWER]))),
        lambda: acts.reset_mfa(who, maria.id),
        lambda: acts.disable(who, (maria.id, ReasonBody(reason="left"))),
    ):
        await people.identity_world.sign_in()
        await change()
        assert await acts.sessions(who, maria.id) == []
    assert (await acts.enable(who, maria.id)).active


async def test_one_sign_in_is_ended_and_the_other_stays(people: People):
    maria = await people.identity_world.person()
    first = await people.identity_world.sign_in()
    await people.identity_world.sign_in()
    who, acts = people.staff(), people.acts
    await acts.end_session(who, (maria.id, public_id(first.person.session_id)))

    left = await acts.sessions(who, maria.id)
    assert len(left) == 1
    assert first.person.session_id not in {each.id for each in left}
    assert await turned_down(acts.end_session(who, (maria.id, "0" * 12))) == "404 NOT_FOUND"
    assert await acts.end_sessions(who, maria.id) == 1


def test_people_are_put_together_with_what_is_known_of_them():
    """Of most people nothing is."""
    one, other = user("1"), user("2")
    lockout = Lockout(None)

    found = standings([one, other], {"2": NOW}, {"1": lockout, "3": lockout})

    assert found == [Standing(one, None, lockout), Standing(other, NOW, None)]
