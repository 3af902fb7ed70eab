"""Users, as staff manage them."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.core.access import Staff
from gateway.core.approvals import Approval
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.company_scope import scope_of
from gateway.core.rights import Role
from gateway.core.schemas import ReasonBody
from gateway.core.sessions import public_id
from gateway.identity.model import CompaniesBody, Failures, InvitationBody, UserRecord
from gateway.identity.throttling import factor_key
from gateway.identity.users import Users
from tests.unit.gateway.http.registers import FIRST, AdminWorld, admin_world_of, person, turned_down
from tests.world import registers
from tests.world.identity import IdentityWorld, identity_world_on
from tests.world.standing import Clock


@dataclass(slots=True)
class Office:
    """Two companies, and the people of the house."""

    admin_world: AdminWorld
    identity_world: IdentityWorld
    people: Users

    def staff(self, *companies: str) -> Staff:
        """Return a user with a fresh code; limited to companies, if named."""
        now = self.identity_world.clock.now
        who = replace(person(*companies), factor_at=now())
        return Staff(AuditContext(who.actor, now), scope_of(frozenset(companies)), who)


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    """The register of people over a store with two companies."""
    async with registers.opened(tmp_path) as opened:
        identity_world = identity_world_on(opened.store, Clock())
        await identity_world.services.signing_keys.ensure()
        admin_world = await admin_world_of(opened)
        yield Office(admin_world, identity_world, identity_world.services.users)
        identity_world.hasher.close()


def invitation(*companies: str, email: str = "new@example.com") -> InvitationBody:
    return InvitationBody(roles=[Role.VIEWER], email=email, name="New", companies=list(companies))


async def test_a_user_is_invited_by_mail(office: Office):
    made = await office.people.invite(office.staff(), invitation())

    assert isinstance(made, UserRecord)
    assert made.state == "invited"
    assert await office.identity_world.link(made.email)
    assert (await office.admin_world.acts())[-1] == ("user:ana@example.com", "user.created")


async def made_by(office: Office, who: Staff, wanted: InvitationBody) -> UserRecord:
    made = await office.people.invite(who, wanted)
    assert not isinstance(made, Approval)
    return made


async def test_a_limited_user_sees_and_invites_within_their_companies(office: Office):
    ours, theirs = office.admin_world.ours.id, office.admin_world.theirs.id
    limited, people = office.staff(ours), office.people
    everybody = await made_by(office, office.staff(), invitation(email="all@example.com"))
    foreign = await made_by(office, office.staff(), invitation(theirs, email="t@example.com"))

    mine = await made_by(office, limited, invitation(ours.upper()))

    assert [each.id for each in (await people.page(limited, FIRST)).items] == [mine.id]
    for hidden in (everybody, foreign):
        assert await turned_down(people.get(limited, hidden.id)) == "404 NOT_FOUND"
        disabled = people.disable(limited, hidden.id, ReasonBody())
        assert await turned_down(disabled) == "404 NOT_FOUND"
    for beyond in ((), (theirs,), (ours, theirs)):
        with pytest.raises(RuleViolation) as refused:
            await people.invite(limited, invitation(*beyond, email="x@example.com"))
        assert refused.value.reason == "company_unknown"
        with pytest.raises(RuleViolation):
            await people.set_companies(limited, mine.id, CompaniesBody(companies=list(beyond)))


async def test_a_company_must_be_given_by_its_id(office: Office):
    with pytest.raises(RuleViolation) as refused:
        await office.people.invite(office.staff(), invitation("our company"))
    assert refused.value.reason == "uuid_form"


async def test_ending_one_session_keeps_the_other(office: Office):
    maria = await office.identity_world.person()
    first = await office.identity_world.sign_in()
    await office.identity_world.sign_in()
    who, people, ended = office.staff(), office.people, public_id(first.person.session_id)

    await people.end_session(who, maria.id, ended)

    left = await people.sessions(who, maria.id)
    assert len(left) == 1
    assert left[0].id != ended
    assert await turned_down(people.end_session(who, maria.id, "0" * 12)) == "404 NOT_FOUND"
    assert (await people.end_sessions(who, maria.id)).ended == 1


async def test_a_lockout_is_shown_and_can_be_lifted(office: Office):
    """Of a user who has signed in before, beside their last sign-in."""
    maria = await office.identity_world.person()
    await office.identity_world.sign_in()
    until = office.identity_world.clock.now() + timedelta(minutes=15)
    failed = Failures(
        key=factor_key(maria.id), count=10, since=maria.created_at, blocked_until=until
    )
    await office.identity_world.context.stores.failures.change(
        [failed.key], lambda _before: {failed.key: failed}
    )

    locked = await office.people.get(office.staff(), maria.id)
    free = await office.people.unlock(office.staff(), maria.id)

    assert (locked.locked, locked.locked_until) == (True, until)
    assert locked.last_sign_in_at is not None
    assert (free.locked, free.locked_until) == (False, None)


async def test_a_change_requires_a_fresh_factor(office: Office):
    late = office.staff()
    office.identity_world.clock.passes(301)

    assert await turned_down(office.people.invite(late, invitation())) == "403 STEP_UP_REQUIRED"


def test_every_method_for_staff_requires_a_right():
    methods = [
        each
        for each in vars(Users).values()
        if inspect.iscoroutinefunction(each) and not each.__name__.startswith("_")
        if inspect.signature(each).parameters.keys() & {"who", "_who"}
    ]

    assert methods
    assert all(hasattr(each, "requirement") for each in methods)
