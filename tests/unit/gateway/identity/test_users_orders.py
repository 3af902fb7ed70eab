"""Orders about users: what waits, when an order is void, and how it is carried out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import AsyncMock

import msgspec
import pytest

from gateway.core.approvals import (
    PEOPLE,
    Approval,
    ApprovalKind,
    ApprovalState,
    Outcome,
)
from gateway.core.audit_context import RuleViolation
from gateway.core.rights import Role
from gateway.core.schemas import ReasonBody
from gateway.core.user import Totp, User
from gateway.identity.model import (
    CompaniesBody,
    CompaniesGrant,
    Enabling,
    FactorReset,
    Invitation,
    RoleGrant,
    RolesBody,
    UserOrder,
    UserRecord,
)
from gateway.identity.users import Users
from tests.unit.gateway.identity.access_world import AccessWorld, refusal, stranger
from tests.world.people import CLI
from tests.world.standing import NOON

Act = Callable[..., Awaitable[object]]


async def grant(world: AccessWorld, found: User) -> object:
    """Order another role."""
    roles = RolesBody([*found.roles, Role.APPROVER])
    return await world.register.set_roles(world.admin, found.id, roles)


async def widen(world: AccessWorld, found: User) -> object:
    """Order every company."""
    return await world.register.set_companies(world.admin, found.id, CompaniesBody([]))


async def enable(world: AccessWorld, found: User) -> object:
    """Order the reactivation of a user."""
    return await world.register.enable(world.admin, found.id)


async def test_no_user_approves_an_order_about_themselves(access_world: AccessWorld):
    joao = await access_world.identity_world.services.users.find(access_world.joao.user_id)
    wanted = RolesBody([*joao.roles, Role.OPERATOR])
    waiting = await access_world.register.set_roles(access_world.admin, joao.id, wanted)
    assert isinstance(waiting, Approval)

    told = await refusal(access_world.approve(waiting.id))

    assert told == "403 about_oneself"
    assert (await access_world.found(joao)).roles == joao.roles


@pytest.mark.parametrize(
    ("roles", "waits"), [({Role.VIEWER}, False), ({Role.VIEWER, Role.OPERATOR}, True)]
)
async def test_inviting_a_user_with_write_rights_needs_approval(
    access_world: AccessWorld, roles: set[Role], waits: bool
):
    done = await access_world.register.invite(access_world.admin, stranger(*roles))

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


async def test_an_invitation_is_void_when_its_orderer_lost_the_right(
    access_world: AccessWorld,
):
    """The orderer was an admin, and is only a security officer at the approval."""
    waiting = await access_world.register.invite(access_world.admin, stranger(Role.ADMIN))
    assert isinstance(waiting, Approval)
    await access_world.identity_world.services.users.set_roles(
        CLI, access_world.maria.user_id, RolesBody([Role.SECURITY])
    )

    refused = await refusal(access_world.approve(waiting.id))

    found = await access_world.find(waiting.id)
    assert (refused, found.state) == ("400 void", ApprovalState.VOID)
    assert await access_world.office.store.identity.users.find_by_email("new@example.com") is None


async def test_an_order_keeps_waiting_when_its_address_was_taken(access_world: AccessWorld):
    waiting = await access_world.register.invite(access_world.admin, stranger(Role.OPERATOR))
    assert isinstance(waiting, Approval)
    await access_world.identity_world.services.users.create(CLI, stranger(Role.VIEWER))

    with pytest.raises(RuleViolation):
        await access_world.approve(waiting.id)

    found = await access_world.find(waiting.id)
    assert found.state is ApprovalState.WAITING


async def test_replaced_roles_are_removed_at_once_and_added_after_approval(
    access_world: AccessWorld,
):
    made = await access_world.made(Role.SECURITY, Role.VIEWER)
    wanted = RolesBody([Role.VIEWER, Role.OPERATOR])

    waiting = await access_world.register.set_roles(access_world.admin, made.id, wanted)

    assert (await access_world.found(made)).roles == {Role.VIEWER}
    assert (await access_world.agreed(waiting)).outcome is Outcome.DONE
    assert (await access_world.found(made)).roles == set(wanted.roles)


async def reset(world: AccessWorld, found: User) -> Approval:
    """Order the removal of a user's second factor."""
    waiting = await world.register.reset_mfa(world.admin, found.id)
    assert isinstance(waiting, Approval)
    return waiting


async def enrolled(world: AccessWorld, found: User, at: datetime) -> User:
    """Give a user an app that was confirmed at an instant."""
    stored = world.identity_world.context.stores.users
    app = Totp(sealed_secret=b"sealed", confirmed_at=at)
    await stored.replace(replace(found, totp=app), None)
    return await world.found(found)


async def test_an_order_to_reset_a_factor_is_void_after_a_new_enrolment(access_world: AccessWorld):
    """The user has since replaced the app that the order was about."""
    made = await enrolled(access_world, await access_world.made(Role.OPERATOR), NOON)
    waiting = await reset(access_world, made)
    again = await enrolled(access_world, made, LATER)

    refused = await refusal(access_world.agreed(waiting))

    void = await access_world.find(waiting.id)
    assert (refused, void.state, void.reason) == ("400 void", ApprovalState.VOID, CHANGED)
    assert (await access_world.found(made)).totp == again.totp


async def test_an_order_to_reset_a_factor_is_valid_after_other_changes(access_world: AccessWorld):
    made = await enrolled(access_world, await access_world.made(Role.OPERATOR), NOON)
    waiting = await reset(access_world, made)
    await may_more(access_world, made)

    await access_world.agreed(waiting)

    assert (await access_world.found(made)).totp is None


async def test_no_user_orders_a_role_for_themselves(access_world: AccessWorld):
    admin, own_id = access_world.admin, access_world.maria.user_id

    with pytest.raises(RuleViolation):
        await access_world.register.set_roles(admin, own_id, RolesBody([Role.ADMIN, Role.OPERATOR]))
    with pytest.raises(RuleViolation):
        await access_world.register.reset_mfa(admin, own_id)


ACTS = [widen, enable]


def can_act(user: User, act: Act) -> bool:
    """Say whether a user has the result of an act."""
    return user.active if act is enable else not user.companies


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    ("roles", "waits"),
    [
        ({Role.VIEWER}, False),
        ({Role.VIEWER, Role.OPERATOR}, True),
        ({Role.APPROVER}, True),
    ],
)
async def test_widening_the_access_of_a_user_with_write_rights_needs_approval(
    access_world: AccessWorld, act: Act, roles: set[Role], waits: bool
):
    """More companies, or reactivation: grants by one person were never approved."""
    made = await access_world.made(
        *roles, companies=[access_world.company], active=act is not enable
    )

    done = await act(access_world, made)

    assert isinstance(done, Approval) is waits
    assert can_act(await access_world.found(made), act) is not waits
    if waits:
        assert (await access_world.agreed(done)).outcome is Outcome.DONE
        assert can_act(await access_world.found(made), act)


async def test_changes_that_widen_no_access_need_no_approval(access_world: AccessWorld):
    """Fewer companies, the same ones, and enabling a user whom no administrator disabled."""
    other = (await access_world.office.company("Mercado")).id
    made, users = await access_world.made(Role.OPERATOR), access_world.register

    for shown in ([access_world.company, other], [other], [other]):
        done = await users.set_companies(access_world.admin, made.id, CompaniesBody(shown))
        assert isinstance(done, UserRecord)
        assert done.companies == sorted(shown)
    assert isinstance(await users.enable(access_world.admin, made.id), UserRecord)


@pytest.mark.parametrize("act", ACTS)
async def test_without_the_two_person_rule_no_change_needs_approval(
    access_world: AccessWorld, act: Act
):
    made = await access_world.made(
        Role.OPERATOR, companies=[access_world.company], active=act is not enable
    )

    access_world.waits = False

    assert isinstance(await act(access_world, made), UserRecord)
    assert can_act(await access_world.found(made), act)
    invited = await access_world.register.invite(
        access_world.admin, msgspec.structs.replace(stranger(Role.OPERATOR), email="b@example.com")
    )
    assert isinstance(invited, UserRecord)


@pytest.mark.parametrize(
    ("seen", "wanted", "meanwhile"),
    [("ab", "ac", "a"), ("ab", "abc", "ab"), ("a", "bc", "a"), ("ab", "", "ab")],
)
async def test_companies_are_removed_at_once_and_added_after_approval(
    access_world: AccessWorld, seen: str, wanted: str, meanwhile: str
):
    """The last one is kept until then: a user without companies would see all."""
    names = {each: (await access_world.office.company(each)).id for each in "abc"}
    made = await access_world.made(Role.OPERATOR, companies=[names[each] for each in seen])

    done = await access_world.register.set_companies(
        access_world.admin, made.id, CompaniesBody([names[each] for each in wanted])
    )

    assert (await access_world.found(made)).companies == {names[each] for each in meanwhile}
    await access_world.agreed(done)
    assert (await access_world.found(made)).companies == {names[each] for each in wanted}


async def test_an_unknown_company_is_refused_before_the_approval(access_world: AccessWorld):
    made = await access_world.made(Role.OPERATOR, companies=[access_world.company])

    with pytest.raises(RuleViolation):
        await access_world.register.set_companies(
            access_world.admin, made.id, CompaniesBody([access_world.company, made.id])
        )


@pytest.mark.parametrize("act", ACTS)
async def test_no_user_widens_their_own_access(access_world: AccessWorld, act: Act):
    maria = await access_world.identity_world.services.users.find(access_world.maria.user_id)

    with pytest.raises(RuleViolation, match="themselves"):
        await act(access_world, maria)


@pytest.mark.parametrize("act", ACTS)
async def test_a_change_is_refused_when_the_user_gained_write_rights_meanwhile(
    access_world: AccessWorld, act: Act, monkeypatch: pytest.MonkeyPatch
):
    """A role is granted between the check and the change."""
    seen = await access_world.made(
        Role.VIEWER, companies=[access_world.company], active=act is not enable
    )
    await access_world.identity_world.services.users.set_roles(
        CLI, seen.id, RolesBody([Role.OPERATOR])
    )
    stored = access_world.identity_world.context.stores.users
    monkeypatch.setattr(stored, "visible", AsyncMock(return_value=seen))

    refused = await refusal(act(access_world, seen))

    assert refused == "412 changed_meanwhile"
    assert not can_act(await access_world.found(seen), act)


@pytest.mark.parametrize("act", ACTS)
async def test_a_second_order_about_a_user_is_refused_while_one_waits(
    access_world: AccessWorld, act: Act
):
    made = await access_world.made(
        Role.OPERATOR, companies=[access_world.company], active=act is not enable
    )
    await act(access_world, made)

    assert await refusal(act(access_world, made)) == "409 waiting"


Change = Callable[[AccessWorld, User], Awaitable[object]]
CHANGED = "The person has been changed since."


async def sees_all(world: AccessWorld, found: User) -> object:
    return await world.identity_world.services.users.set_companies(CLI, found.id, CompaniesBody([]))


async def sees_another(world: AccessWorld, found: User) -> object:
    other = await world.office.company("Mercado")
    return await world.identity_world.services.users.set_companies(
        CLI, found.id, CompaniesBody([other.id])
    )


async def may_more(world: AccessWorld, found: User) -> object:
    return await world.identity_world.services.users.set_roles(
        CLI, found.id, RolesBody([*found.roles, Role.SECURITY])
    )


async def role_given_and_taken(world: AccessWorld, found: User) -> object:
    """Give what is ordered, and take it again: the roles are as before."""
    users = world.identity_world.services.users
    await users.set_roles(CLI, found.id, RolesBody([*found.roles, Role.APPROVER]))
    return await users.set_roles(CLI, found.id, RolesBody([*found.roles]))


async def companies_given_and_taken(world: AccessWorld, found: User) -> object:
    users = world.identity_world.services.users
    await users.set_companies(CLI, found.id, CompaniesBody([]))
    return await users.set_companies(CLI, found.id, CompaniesBody([*found.companies]))


async def disabled_again(world: AccessWorld, found: User) -> object:
    return await world.identity_world.services.users.disable(CLI, found.id, ReasonBody("fraud"))


OUTGROWN = [
    (grant, sees_all),
    (grant, sees_another),
    (grant, role_given_and_taken),
    (widen, may_more),
    (widen, companies_given_and_taken),
    (widen, sees_another),
    (enable, may_more),
    (enable, sees_all),
    (enable, disabled_again),
]


async def ordered(world: AccessWorld, order: Change) -> tuple[User, Approval]:
    """Let an order about a user of one company wait."""
    made = await world.made(
        Role.VIEWER, Role.OPERATOR, companies=[world.company], active=order is not enable
    )
    waiting = await order(world, made)
    assert isinstance(waiting, Approval)
    return made, waiting


@pytest.mark.parametrize(("order", "change"), OUTGROWN)
async def test_an_order_is_void_when_the_user_s_access_changed(
    access_world: AccessWorld, order: Change, change: Change
):
    """The approver saw other roles, other companies, or another reason for the block."""
    made, waiting = await ordered(access_world, order)
    await change(access_world, made)
    before = await access_world.found(made)

    refused = await refusal(access_world.agreed(waiting))

    void = await access_world.find(waiting.id)
    assert (refused, void.state, void.reason) == ("400 void", ApprovalState.VOID, CHANGED)
    assert await access_world.found(made) == before


@pytest.mark.parametrize(("order", "change"), OUTGROWN)
async def test_a_change_of_the_user_during_the_approval_is_not_overwritten(
    access_world: AccessWorld, order: Change, change: Change
):
    made, waiting = await ordered(access_world, order)
    await change(access_world, made)
    before, text = await access_world.found(made), access_world.approvals.text(waiting)

    with pytest.raises(RuleViolation, match="changed meanwhile"):
        await access_world.approvals.executors[waiting.kind].carry_out(waiting, text)

    assert await access_world.found(made) == before


@pytest.mark.parametrize("order", [grant, widen, enable])
async def test_executing_an_order_twice_is_safe(access_world: AccessWorld, order: Change):
    made, waiting = await ordered(access_world, order)
    text = access_world.approvals.text(waiting)
    await access_world.approvals.executors[waiting.kind].carry_out(waiting, text)
    once = await access_world.found(made)

    await access_world.approvals.executors[waiting.kind].carry_out(waiting, text)

    twice = await access_world.found(made)
    assert (once.roles, once.companies, once.active) == (twice.roles, twice.companies, twice.active)


@pytest.mark.parametrize("order", [grant, widen, enable])
async def test_an_order_is_refused_when_its_orderer_no_longer_sees_every_company(
    access_world: AccessWorld, order: Change
):
    made, waiting = await ordered(access_world, order)
    only = [access_world.company] if order is widen else [await another(access_world)]
    await access_world.identity_world.services.users.set_companies(
        CLI, access_world.maria.user_id, CompaniesBody(list(only))
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
            RoleGrant(**WHO, roles=OPERATOR, companies=["c"], access_changed_at=NOON),
            {**WHO, "roles": ["operator"], "companies": ["c"]},
        ),
        (
            CompaniesGrant(
                **WHO,
                roles=OPERATOR,
                companies=[],
                companies_before=["c"],
                access_changed_at=None,
            ),
            {**WHO, "roles": ["operator"], "companies": [], "companies_before": ["c"]},
        ),
        (
            Enabling(**WHO, roles=OPERATOR, companies=["c"], changed_at=NOON),
            {**WHO, "roles": ["operator"], "companies": ["c"]},
        ),
        (FactorReset(**WHO, enrolled_at=None), WHO),
    ],
)
def test_an_order_document_shows_the_ordered_access(order: UserOrder, shown: dict[str, object]):
    nobody: Any = None
    users = Users(context=nobody, known_company=nobody)

    assert users.order_document(msgspec.json.encode(order).decode()) == shown


EMAIL = "a@example.com"
GRANT = RoleGrant(
    user_id="u",
    email=EMAIL,
    roles=[Role.ADMIN],
    companies=["a", "b"],
    access_changed_at=NOON,
)
WIDENING = CompaniesGrant(
    user_id="u",
    email=EMAIL,
    roles=[Role.OPERATOR],
    companies=[],
    companies_before=["a", "b"],
    access_changed_at=NOON,
)
ENABLING = Enabling(
    user_id="u", email=EMAIL, roles=[Role.OPERATOR], companies=["a", "b"], changed_at=NOON
)
RESET = FactorReset(user_id="u", email=EMAIL, enrolled_at=NOON)
ORDERS: list[UserOrder] = [
    Invitation(email="a@example.com", name="A", roles=[Role.OPERATOR], companies=["c"]),
    GRANT,
    WIDENING,
    ENABLING,
    RESET,
]


def test_every_kind_of_user_order_is_handled():
    kinds = {ApprovalKind(str(each.__struct_config__.tag)) for each in ORDERS}

    assert kinds == PEOPLE


def person(**changed: Any) -> User:
    """An operator of two companies."""
    user = User(
        id="u",
        email=EMAIL,
        name="A",
        password="",
        roles=frozenset({Role.OPERATOR}),
        companies=frozenset("ab"),
        access_changed_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )
    return replace(user, **changed)


LATER = NOON + timedelta(seconds=1)
MORE = frozenset({Role.OPERATOR, Role.SECURITY})
CHANGED_LATER = {"access_changed_at": LATER}


def app(confirmed_at: datetime | None) -> dict[str, Totp]:
    """Return an authenticator app of a person."""
    return {"totp": Totp(sealed_secret=b"sealed", confirmed_at=confirmed_at)}


def test_an_order_is_valid_while_it_gives_no_more_than_ordered():
    cases = [
        (GRANT, {}, True),
        (GRANT, {"updated_at": LATER}, True),
        (GRANT, CHANGED_LATER, False),
        (GRANT, {"roles": frozenset({Role.ADMIN}), **CHANGED_LATER}, True),
        (msgspec.structs.replace(GRANT, access_changed_at=None), {}, False),
        (WIDENING, {"updated_at": LATER}, True),
        (WIDENING, CHANGED_LATER, False),
        (WIDENING, {"companies": frozenset(), **CHANGED_LATER}, True),
        (ENABLING, {"active": False}, True),
        (ENABLING, {"active": False, "updated_at": LATER}, False),
        (ENABLING, {"active": True, "updated_at": LATER}, True),
        (RESET, {"roles": MORE, "updated_at": LATER, **CHANGED_LATER, **app(NOON)}, True),
        (RESET, app(LATER), False),
        (RESET, {"totp": None}, True),
        (RESET, app(None), True),
    ]

    wrong = [
        (order, changed, fits)
        for order, changed, fits in cases
        if order.fits(person(**changed)) is not fits
    ]

    assert wrong == []
