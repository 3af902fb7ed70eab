"""Credentials and people as orders: what waits, what does not, and where a rule is off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from gateway.core.approvals import Approval, ApprovalState, Outcome
from gateway.core.audit_context import RuleViolation
from gateway.core.rights import Role
from gateway.core.user import User
from gateway.identity.access_orders import FourEyes
from tests.unit.gateway.identity.access_world import (
    AccessWorld,
    refusal,
    stranger,
)

Act = Callable[..., Awaitable[object]]


async def test_nobody_agrees_to_an_order_about_themselves(access_world: AccessWorld):
    joao = await access_world.identity_world.services.users.find(access_world.joao.user_id)
    waiting = await access_world.people().set_roles(
        access_world.maria, joao, joao.roles | {Role.OPERATOR}
    )
    assert isinstance(waiting, Approval)

    told = await refusal(access_world.approve(waiting.id))

    assert told == "403 about_oneself"
    assert (await access_world.found(joao)).roles == joao.roles


@pytest.mark.parametrize(
    ("roles", "rules", "waits"),
    [
        ({Role.VIEWER}, FourEyes(), False),
        ({Role.VIEWER, Role.OPERATOR}, FourEyes(), True),
        ({Role.OPERATOR}, FourEyes(people=False), False),
        ({Role.OPERATOR}, FourEyes(credentials=False), True),
    ],
)
async def test_who_may_write_is_invited_by_two(
    access_world: AccessWorld, roles: set[Role], rules: FourEyes, waits: bool
):
    done = await access_world.people(rules).invite(access_world.maria, stranger(*roles))

    assert isinstance(done, Approval) is waits
    found = await access_world.office.store.identity.users.find_by_email("new@example.com")
    assert (found is None) is waits
    if isinstance(done, Approval):
        decided = await access_world.approvals.approve(
            access_world.staff(access_world.joao), done.id
        )
        found = await access_world.office.store.identity.users.find_by_email("new@example.com")
        assert found is not None
        assert (found.roles, decided.approval.outcome) == (roles, Outcome.DONE)


async def test_an_orderer_who_lacks_the_right_by_now_has_ordered_nothing(
    access_world: AccessWorld,
):
    """An admin orders an admin, and is a security officer when somebody agrees."""
    waiting = await access_world.people().invite(access_world.maria, stranger(Role.ADMIN))
    assert isinstance(waiting, Approval)
    await access_world.identity_world.services.users.set_roles(
        "cli", access_world.maria.user_id, {Role.SECURITY}
    )

    refused = await refusal(access_world.approve(waiting.id))

    found = await access_world.find(waiting.id)
    assert (refused, found.state) == ("400 void", ApprovalState.VOID)
    assert await access_world.office.store.identity.users.find_by_email("new@example.com") is None


async def test_an_address_taken_meanwhile_keeps_the_order_waiting(access_world: AccessWorld):
    waiting = await access_world.people().invite(access_world.maria, stranger(Role.OPERATOR))
    assert isinstance(waiting, Approval)
    await access_world.identity_world.services.users.create("cli", stranger(Role.VIEWER))

    with pytest.raises(RuleViolation):
        await access_world.approve(waiting.id)

    found = await access_world.find(waiting.id)
    assert found.state is ApprovalState.WAITING


async def test_a_grant_undoes_no_change_of_meanwhile(access_world: AccessWorld):
    made = await access_world.identity_world.services.users.create("cli", stranger(Role.VIEWER))
    given = frozenset({Role.VIEWER, Role.OPERATOR})
    waiting = await access_world.people().set_roles(access_world.maria, made, given)
    assert isinstance(waiting, Approval)
    await access_world.identity_world.services.users.set_roles("cli", made.id, {Role.SECURITY})

    await access_world.approve(waiting.id)

    found = await access_world.identity_world.services.users.find(made.id)
    assert found.roles == {Role.SECURITY, Role.OPERATOR}


async def test_nobody_orders_a_role_for_themselves(access_world: AccessWorld):
    found = await access_world.identity_world.services.users.find(access_world.maria.user_id)

    with pytest.raises(RuleViolation):
        await access_world.people().set_roles(
            access_world.maria, found, frozenset({Role.ADMIN, Role.OPERATOR})
        )
    with pytest.raises(RuleViolation):
        await access_world.people().reset_mfa(access_world.maria, found)


async def widen(world: AccessWorld, found: User, rules: FourEyes | None = None) -> object:
    """Show somebody every company."""
    return await world.people(rules).set_companies(world.maria, found, frozenset())


async def enable(world: AccessWorld, found: User, rules: FourEyes | None = None) -> object:
    """Let somebody in again."""
    return await world.people(rules).enable(world.maria, found)


ACTS = [widen, enable]


def can_act(user: User, act: Act) -> bool:
    """Say whether somebody has what an act gives."""
    return user.active if act is enable else not user.companies


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    ("roles", "rules", "waits"),
    [
        ({Role.VIEWER}, FourEyes(), False),
        ({Role.VIEWER, Role.OPERATOR}, FourEyes(), True),
        ({Role.APPROVER}, FourEyes(), True),
        ({Role.OPERATOR}, FourEyes(people=False), False),
        ({Role.OPERATOR}, FourEyes(credentials=False), True),
    ],
)
async def test_who_may_write_gains_reach_by_two(
    access_world: AccessWorld, act: Act, roles: set[Role], rules: FourEyes, waits: bool
):
    """More companies, or coming back: what one person alone gave was never agreed to."""
    made = await access_world.made(
        *roles, companies=[access_world.company], active=act is not enable
    )

    done = await act(access_world, made, rules)

    assert isinstance(done, Approval) is waits
    assert can_act(await access_world.found(made), act) is not waits
    if waits:
        assert (await access_world.agreed(done)).outcome is Outcome.DONE
        assert can_act(await access_world.found(made), act)


async def test_what_gives_no_reach_waits_for_nobody(access_world: AccessWorld):
    """Fewer companies, the same ones, and enabling whom nobody disabled."""
    other = (await access_world.office.company("Mercado")).id
    made, people = await access_world.made(Role.OPERATOR), access_world.people()

    for shown in ({access_world.company, other}, {other}, {other}):
        done = await people.set_companies(
            access_world.maria, await access_world.found(made), frozenset(shown)
        )
        assert isinstance(done, User)
        assert done.companies == shown
    enabled = await people.enable(access_world.maria, await access_world.found(made))
    assert isinstance(enabled, User)


@pytest.mark.parametrize(
    ("seen", "wanted", "meanwhile"),
    [("ab", "ac", "a"), ("ab", "abc", "ab"), ("a", "bc", "a"), ("ab", "", "ab")],
)
async def test_companies_are_taken_at_once_and_given_by_two(
    access_world: AccessWorld, seen: str, wanted: str, meanwhile: str
):
    """The last one stays until then: without any, a person would see them all."""
    names = {each: (await access_world.office.company(each)).id for each in "abc"}
    made = await access_world.made(Role.OPERATOR, companies=[names[each] for each in seen])

    done = await access_world.people().set_companies(
        access_world.maria, made, frozenset(names[each] for each in wanted)
    )

    assert (await access_world.found(made)).companies == {names[each] for each in meanwhile}
    await access_world.agreed(done)
    assert (await access_world.found(made)).companies == {names[each] for each in wanted}


async def test_an_unknown_company_is_refused_when_it_is_ordered(access_world: AccessWorld):
    made = await access_world.made(Role.OPERATOR, companies=[access_world.company])

    with pytest.raises(RuleViolation):
        await access_world.people().set_companies(
            access_world.maria, made, frozenset({access_world.company, made.id})
        )


@pytest.mark.parametrize("act", ACTS)
async def test_nobody_orders_reach_for_themselves(access_world: AccessWorld, act: Act):
    users = access_world.identity_world.services.users
    maria = await users.set_companies("cli", access_world.maria.user_id, [access_world.company])

    with pytest.raises(RuleViolation, match="themselves"):
        await act(access_world, replace(maria, active=False))


@pytest.mark.parametrize("act", ACTS)
async def test_what_waited_for_nobody_is_not_done_to_who_may_write_by_now(
    access_world: AccessWorld, act: Act
):
    """A role that is given between the look and the change."""
    seen = await access_world.made(
        Role.VIEWER, companies=[access_world.company], active=act is not enable
    )
    await access_world.identity_world.services.users.add_roles("cli", seen.id, [Role.OPERATOR])

    refused = await refusal(act(access_world, seen))

    assert refused == "412 changed_meanwhile"
    assert not can_act(await access_world.found(seen), act)


@pytest.mark.parametrize("act", ACTS)
async def test_one_order_of_reach_waits_for_a_person(access_world: AccessWorld, act: Act):
    made = await access_world.made(
        Role.OPERATOR, companies=[access_world.company], active=act is not enable
    )
    await act(access_world, made)

    assert await refusal(act(access_world, made)) == "409 waiting"
