"""The demo's people: what is printed opens the door, whatever was changed since."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import RIGHTS, Area, Right, Role
from provider_adapters.testing.demo import people_side
from provider_adapters.testing.demo.document import Demo
from provider_adapters.testing.demo.ensure import DemoParts
from tests.world.stores.samples import event

pytestmark = pytest.mark.slow


@pytest.fixture
def demo(parts: DemoParts) -> Demo:
    """Only its people."""
    users = people_side.new_people(parts.people, {})
    return Demo(users=users)  # type: ignore[typeddict-item]


async def found(parts: DemoParts, role: Role):
    return await parts.people.stores.users.find_by_email(f"{role.value}@example.com")


async def test_there_is_somebody_for_every_role(parts: DemoParts, demo: Demo):
    await people_side.ensure(parts.people, demo)

    for role in Role:
        user = await found(parts, role)
        assert user.roles == {role}
        assert user.has_factor is (role is not Role.VIEWER)
        password = demo["users"][role.value]["password"]
        assert await parts.people.crypto.hashing.matches(password, user.password)


def test_kept_people_stay_and_missing_ones_are_chosen(parts: DemoParts, demo: Demo):
    kept = {"admin": demo["users"]["admin"]}

    again = people_side.new_people(parts.people, kept)

    assert again["admin"] == demo["users"]["admin"]
    assert set(again) == set(people_side.PEOPLE)


async def test_three_people_may_judge_a_payout(parts: DemoParts, demo: Demo):
    """Nobody gives the second opinion too, and where two differ a third one decides."""
    await people_side.ensure(parts.people, demo)

    users = await parts.people.stores.users.list()

    judging = Right(Area.REVIEW, Action.WRITE)
    judges = [each for each in users if any(judging in RIGHTS[role] for role in each.roles)]
    assert [each.name for each in judges] == ["Demo approver", "Demo approver2", "Demo approver3"]


async def test_the_second_time_changes_nobody(parts: DemoParts, demo: Demo):
    """A change would end their sessions."""
    await people_side.ensure(parts.people, demo)
    before = await parts.people.stores.users.list()

    await people_side.ensure(parts.people, demo)

    assert await parts.people.stores.users.list() == before


@pytest.mark.parametrize(
    "changed",
    [
        {"active": False},
        {"password": "$argon2id$other"},
        {"roles": frozenset({Role.VIEWER})},
        {"companies": frozenset({"one"})},
        {"totp": None},
    ],
    ids=lambda changed: next(iter(changed)),
)
async def test_who_was_changed_is_put_right(parts: DemoParts, demo: Demo, changed: dict):
    await people_side.ensure(parts.people, demo)
    admin = await found(parts, Role.ADMIN)
    await parts.people.stores.users.replace(replace(admin, **changed), event())

    await people_side.ensure(parts.people, demo)

    mended = await found(parts, Role.ADMIN)
    password = demo["users"]["admin"]["password"]
    assert (mended.active, mended.roles, mended.companies) == (True, {Role.ADMIN}, frozenset())
    assert mended.has_factor
    assert await parts.people.crypto.hashing.matches(password, mended.password)
