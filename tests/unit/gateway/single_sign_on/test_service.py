"""The provider of a company: set and removed by two people, who give no more than they may."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gateway.companies.service import add_company
from gateway.core.access import Staff
from gateway.core.approvals import Approval, ApprovalKind, NewOrder, Outcome, VoidReason
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from gateway.identity.model import InvitationBody
from gateway.identity.sessions import SignedIn
from gateway.single_sign_on.model import RoleValue
from gateway.single_sign_on.service import IdentityProviders
from tests.unit.gateway.single_sign_on.world import COMPANY, SignOnWorld
from tests.world.identity import PASSWORD, refusal_of
from tests.world.issuer import ANA, DOMAIN, SECRET, wanted_of
from tests.world.people import CLI
from tests.world.stores import samples

CHEFS = (RoleValue("chefs", Role.ADMIN),)


def who(world: SignOnWorld, *roles: Role) -> Staff:
    now = world.identity.clock.now
    person = SignedInUser(
        user_id="9f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a09",
        session_id="s",
        email="rita@example.com",
        name="Rita",
        roles=frozenset(roles),
        companies=frozenset(),
        factor_at=now(),
        has_factor=True,
    )
    return Staff(AuditContext(person.actor, now), EVERY_COMPANY, person)


def waiting(world: SignOnWorld, orders: list[NewOrder]) -> IdentityProviders:
    """Return the service of users, whose orders wait."""

    async def wait(person: SignedInUser, order: NewOrder) -> Approval:
        orders.append(order)
        return approval(order.kind, person.user_id)

    providers = world.providers
    return IdentityProviders(
        database=providers.database,
        records=providers.records,
        context=providers.context,
        allow_local=True,
        wait=wait,
    )


def approval(kind: ApprovalKind, ordered_by: str) -> Approval:
    return Approval(
        id="0",
        kind=kind,
        subject=COMPANY,
        sealed_order=b"",
        ordered_by=ordered_by,
        orderer="user:rita@example.com",
        ordered_at=samples.NOW,
        ends_at=samples.NOW,
    )


async def test_an_order_for_a_provider_waits_and_shows_no_secret(sign_on_world: SignOnWorld):
    orders: list[NewOrder] = []
    providers = waiting(sign_on_world, orders)
    before = await sign_on_world.sign_on.records.find(COMPANY)
    wanted = wanted_of(sign_on_world.issuer, short_name="nova")

    ordered = await providers.set(who(sign_on_world, Role.ADMIN), COMPANY, wanted)
    removal = await providers.remove(who(sign_on_world, Role.ADMIN), COMPANY)

    assert isinstance(ordered, Approval)
    assert isinstance(removal, Approval)
    assert await sign_on_world.sign_on.records.find(COMPANY) == before
    assert SECRET in orders[0].text  # sealed by the approvals
    assert SECRET not in str(providers.order_document(orders[0].text))
    assert providers.order_document(orders[0].text)["single_sign_on"]["short_name"] == "nova"
    assert await providers.carry_out(ordered, orders[0].text) is Outcome.DONE
    assert await providers.check_again(removal, orders[1].text) is VoidReason.SIGN_ON_CHANGED
    assert await providers.carry_out(ordered, orders[0].text) is Outcome.DONE  # safe to repeat


async def test_of_two_orders_for_one_domain_the_second_is_not_carried_out(
    sign_on_world: SignOnWorld,
):
    """Also where it was possible when it was approved."""
    orders: list[NewOrder] = []
    providers = waiting(sign_on_world, orders)
    database = sign_on_world.identity.store.database
    other = samples.company("6f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02")
    await add_company(database, other, samples.event())
    await providers.remove(sign_on_world.staff, COMPANY)
    for company_id, short_name in ((COMPANY, "loja"), (other.id, "outra")):
        wanted = wanted_of(sign_on_world.issuer, short_name=short_name)
        await providers.set(who(sign_on_world, Role.ADMIN), company_id, wanted)
    first, second = (approval(ApprovalKind.SINGLE_SIGN_ON, "0") for _ in orders)

    assert await providers.carry_out(first, orders[0].text) is Outcome.DONE
    with pytest.raises(RuleViolation) as refused:
        await providers.carry_out(second, orders[1].text)
    assert refused.value.reason == "sign_on_name_taken"
    assert await sign_on_world.sign_on.records.find(other.id) is None


async def test_a_role_beyond_the_orderer_s_own_rights_is_refused(sign_on_world: SignOnWorld):
    orders: list[NewOrder] = []
    providers = waiting(sign_on_world, orders)
    wanted = wanted_of(sign_on_world.issuer, mapping=CHEFS)
    keeper = who(sign_on_world, Role.SECURITY)

    assert (await refusal_of(providers.set(keeper, COMPANY, wanted)))[1] == "lacking"
    await providers.set(who(sign_on_world, Role.ADMIN), COMPANY, wanted)
    order = InvitationBody(email="rita@example.com", name="Rita", roles=[Role.SECURITY])
    demoted = await sign_on_world.identity.services.users.create(CLI, order, PASSWORD)
    made = approval(ApprovalKind.SINGLE_SIGN_ON, demoted.id)
    assert await providers.check_again(made, orders[0].text) is VoidReason.RIGHT_LOST


async def test_removal_disables_those_who_came_by_the_provider_alone(sign_on_world: SignOnWorld):
    came = await sign_on_world.sign_in()
    assert isinstance(came, SignedIn)
    order = InvitationBody(
        email=f"lokal@{DOMAIN}", name="Lokal", roles=[Role.VIEWER], companies=[COMPANY]
    )
    local = await sign_on_world.identity.services.users.create(CLI, order, PASSWORD)

    sign_on_world.issuer.person |= {"sub": "bia", "email": f"bia@{DOMAIN}"}
    named = (await sign_on_world.proof()).user
    await sign_on_world.set(break_glass=(named.id,))
    await sign_on_world.providers.remove(sign_on_world.staff, COMPANY)

    assert (await sign_on_world.found(named)).active
    assert (await refusal_of(sign_on_world.identity.who(came)))[0] == "token_invalid"
    users = sign_on_world.identity.context.stores.users
    gone = await users.find(came.person.user_id)
    assert gone is not None
    assert not gone.active
    assert isinstance(await sign_on_world.identity.sign_in(local.email), SignedIn)
    refused = await refusal_of(sign_on_world.providers.get(sign_on_world.staff, COMPANY))
    assert refused == ("not_found", "identity_provider")


async def test_a_stored_secret_goes_to_its_own_issuer_and_client_alone(sign_on_world: SignOnWorld):
    kept = wanted_of(sign_on_world.issuer, client_secret="", short_name="nova")
    await sign_on_world.providers.set(sign_on_world.staff, COMPANY, kept)

    assert await sign_on_world.sign_on.records.secret(COMPANY) == SECRET
    for changed in ({"issuer": "https://sso.example.com"}, {"client_id": "other"}):
        with pytest.raises(RuleViolation) as refused:
            await sign_on_world.providers.set(
                sign_on_world.staff, COMPANY, replace(kept, **changed)
            )
        assert (refused.value.field, refused.value.reason) == ("client_secret", "missing")


@pytest.mark.parametrize(
    "changed",
    [
        {"short_name": "Loja Exemplo"},
        {"domains": ()},
        {"domains": ("localhost",)},
        {"domains": ("%.example.com",)},
        {"issuer": "https://10.0.0.1"},
        {"issuer": "https://sso.example.com?tenant=1"},
        {"issuer": "ftp://sso.example.com"},
        {"client_id": ""},
        {"claim": "two words"},
        {"mapping": ()},
        {"mapping": (RoleValue("", Role.VIEWER),)},
        {"factor_amr": ("two words",)},
        {"break_glass": (ANA,)},
        {"break_glass": ("x",)},
    ],
)
async def test_a_provider_that_breaks_a_rule_is_refused(
    sign_on_world: SignOnWorld, changed: dict[str, Any]
):
    wanted = wanted_of(sign_on_world.issuer, **changed)

    with pytest.raises(RuleViolation) as refused:
        await sign_on_world.providers.set(sign_on_world.staff, COMPANY, wanted)

    assert refused.value.field == next(iter(changed))
