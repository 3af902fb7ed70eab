"""Orders about people are looked at again, and carried out on the person as they are by now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.core.approvals import Approval, ApprovalState
from gateway.core.audit_context import RuleViolation
from gateway.core.rights import Role
from gateway.core.user import User
from gateway.identity.access_carriers import BackOfficeCarriers
from gateway.identity.access_changes import (
    BackOfficeOrder,
    CompaniesGrant,
    Enabling,
    FactorReset,
    Invitation,
    RoleGrant,
    written,
)
from tests.unit.gateway.identity.access_world import AccessWorld, refusal
from tests.world.standing import NOON

Change = Callable[[AccessWorld, User], Awaitable[object]]
CHANGED = "The person has been changed since."


async def grant(world: AccessWorld, found: User) -> object:
    """Order another role."""
    return await world.people().set_roles(world.maria, found, found.roles | {Role.APPROVER})


async def widen(world: AccessWorld, found: User) -> object:
    """Order every company."""
    return await world.people().set_companies(world.maria, found, frozenset())


async def enable(world: AccessWorld, found: User) -> object:
    """Order that somebody comes back."""
    return await world.people().enable(world.maria, found)


async def sees_all(world: AccessWorld, found: User) -> object:
    return await world.identity_world.services.users.set_companies("cli", found.id, ())


async def sees_another(world: AccessWorld, found: User) -> object:
    other = await world.office.company("Mercado")
    return await world.identity_world.services.users.set_companies("cli", found.id, [other.id])


async def may_more(world: AccessWorld, found: User) -> object:
    return await world.identity_world.services.users.add_roles("cli", found.id, [Role.SECURITY])


async def may_less(world: AccessWorld, found: User) -> object:
    return await world.identity_world.services.users.set_roles("cli", found.id, [Role.VIEWER])


async def disabled_again(world: AccessWorld, found: User) -> object:
    return await world.identity_world.services.users.disable("cli", found.id, "fraud")


async def renamed(world: AccessWorld, found: User) -> object:
    return await world.identity_world.services.users.rename("cli", found.id, "Other")


async def nothing(_world: AccessWorld, _found: User) -> object:
    return None


OUTGROWN = [
    (grant, sees_all),
    (grant, sees_another),
    (widen, may_more),
    (widen, sees_another),
    (enable, may_more),
    (enable, sees_all),
    (enable, disabled_again),
]
FITTING = [
    *((order, nothing) for order in (grant, widen, enable)),
    (grant, renamed),
    (grant, may_less),
    (widen, renamed),
    (widen, may_less),
    (widen, disabled_again),
]


async def ordered(world: AccessWorld, order: Change) -> tuple[User, Approval]:
    """Let an order about somebody of one company wait."""
    made = await world.made(
        Role.VIEWER, Role.OPERATOR, companies=[world.company], active=order is not enable
    )
    waiting = await order(world, made)
    assert isinstance(waiting, Approval)
    return made, waiting


@pytest.mark.parametrize(("order", "change"), OUTGROWN)
async def test_an_order_about_who_may_more_by_now_is_void(
    access_world: AccessWorld, order: Change, change: Change
):
    """Whoever agrees has seen other roles, other companies, or another reason to keep out."""
    made, waiting = await ordered(access_world, order)
    await change(access_world, made)
    before = await access_world.found(made)

    refused = await refusal(access_world.agreed(waiting))

    void = await access_world.find(waiting.id)
    assert (refused, void.state, void.reason) == ("400 void", ApprovalState.VOID, CHANGED)
    assert await access_world.found(made) == before


@pytest.mark.parametrize(("order", "change"), FITTING)
async def test_an_order_holds_while_it_gives_what_it_said(
    access_world: AccessWorld, order: Change, change: Change
):
    made, waiting = await ordered(access_world, order)
    await change(access_world, made)

    await access_world.agreed(waiting)

    after = await access_world.found(made)
    given = {grant: Role.APPROVER in after.roles, widen: not after.companies, enable: after.active}
    assert given[order]


@pytest.mark.parametrize(("order", "change"), OUTGROWN)
async def test_what_changes_between_the_decision_and_the_deed_refuses_it(
    access_world: AccessWorld, order: Change, change: Change
):
    made, waiting = await ordered(access_world, order)
    await change(access_world, made)
    before, text = await access_world.found(made), access_world.approvals.text(waiting)

    with pytest.raises(RuleViolation, match="changed meanwhile"):
        await access_world.approvals.executors[waiting.kind].carry_out(waiting, text)

    assert await access_world.found(made) == before


@pytest.mark.parametrize("order", [grant, widen, enable])
async def test_carrying_out_is_safe_to_repeat(access_world: AccessWorld, order: Change):
    made, waiting = await ordered(access_world, order)
    text = access_world.approvals.text(waiting)
    await access_world.approvals.executors[waiting.kind].carry_out(waiting, text)
    once = await access_world.found(made)

    await access_world.approvals.executors[waiting.kind].carry_out(waiting, text)

    twice = await access_world.found(made)
    assert (once.roles, once.companies, once.active) == (twice.roles, twice.companies, twice.active)


@pytest.mark.parametrize("order", [grant, widen, enable])
async def test_an_orderer_who_does_not_see_it_all_by_now_has_ordered_nothing(
    access_world: AccessWorld, order: Change
):
    made, waiting = await ordered(access_world, order)
    only = [access_world.company] if order is widen else [await another(access_world)]
    await access_world.identity_world.services.users.set_companies(
        "cli", access_world.maria.user_id, only
    )

    refused = await refusal(access_world.agreed(waiting))

    after = await access_world.found(made)
    assert refused.startswith("400 ")
    assert (after.roles, after.companies, after.active) == (made.roles, made.companies, made.active)


async def another(world: AccessWorld) -> str:
    """Make another company."""
    return (await world.office.company("Mercado")).id


WHO = {"user_id": "u", "email": "a@example.com"}
OPERATOR = [Role.OPERATOR]


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        (
            Invitation(email="a@example.com", name="A", roles=OPERATOR, companies=["c"]),
            {"email": "a@example.com", "name": "A", "roles": ["operator"], "companies": ["c"]},
        ),
        (
            RoleGrant(**WHO, roles=OPERATOR, companies=["c"]),
            {**WHO, "roles": ["operator"], "companies": ["c"]},
        ),
        (RoleGrant(**WHO, roles=OPERATOR), {**WHO, "roles": ["operator"]}),
        (
            CompaniesGrant(**WHO, roles=OPERATOR, companies=[], companies_before=["c"]),
            {**WHO, "roles": ["operator"], "companies": [], "companies_before": ["c"]},
        ),
        (
            Enabling(**WHO, roles=OPERATOR, companies=["c"], changed_at=NOON),
            {**WHO, "roles": ["operator"], "companies": ["c"]},
        ),
        (FactorReset(**WHO), WHO),
    ],
)
def test_an_order_about_a_person_says_what_they_are_to_be(
    order: BackOfficeOrder, shown: dict[str, object]
):
    nobody: Any = None
    carriers = BackOfficeCarriers(services=nobody, users=nobody)

    assert carriers.order_document(written(order)) == shown
